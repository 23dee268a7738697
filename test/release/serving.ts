import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { until } from '../../packages/client/test/processes.ts'

interface Settings {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Runs a command that prints the address of its gateway as JSON, calls `work` with that address, then stops the command. */
export async function whileServing(
  [command = '', ...args]: readonly string[],
  settings: Settings,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const child = spawn(command, args, { ...settings, stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const exit = once(child, 'exit')
  try {
    const line = await Promise.race([
      once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
      exit.then(() => Promise.reject(new Error(`The gateway exited: ${errors}`))),
    ])
    const { url } = JSON.parse(line) as { readonly url: string }
    await until(async () => (await fetch(new URL('/readyz', url))).ok, 'the gateway is ready', 60_000)
    await work(url)
  } finally {
    child.kill('SIGTERM')
    await exit
  }
}
