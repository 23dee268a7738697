import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Home, home, main } from '../../../cli/test/command.ts'
import { until } from '../../../client/test/processes.ts'
import type { GatewayStatus } from '../../src/index.ts'

export interface CommandOptions {
  /** A command prefix, such as a program that sets limits. */
  readonly before?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Where its stderr goes, if it is not read. */
  readonly stderr?: number
  /** Called with the folder of the configuration before the command starts. */
  readonly prepare?: (folder: string) => Promise<void>
}

/** `unfold serve` as a separate process, once it is reachable. */
export interface Commanded extends AsyncDisposable {
  readonly at: Home
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly child: ChildProcess
  stderr(): string
  /** `unfold status --json`. */
  status(): Promise<GatewayStatus>
  /** The response of `/readyz`. */
  readiness(): Promise<unknown>
}

/** Runs the published command with this configuration, on a free port. */
export async function commanded(config: object, options: CommandOptions = {}): Promise<Commanded> {
  const at = await home()
  const file = join(at.folder, 'unfold.json')
  await writeFile(file, JSON.stringify(config))
  await options.prepare?.(at.folder)
  const line = [
    ...(options.before ?? []),
    process.execPath,
    main,
    'serve',
    file,
    '--http',
    '0',
    '--json',
    ...(options.args ?? []),
  ]
  const [program = '', ...args] = line
  const env = { ...at.env, ...options.env }
  const child = spawn(program, args, { cwd: at.folder, env, stdio: ['ignore', 'pipe', options.stderr ?? 'pipe'] })
  const exited = once(child, 'exit')
  let out = ''
  let err = ''
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const dispose = async (): Promise<void> => {
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), 5_000)
    if (child.exitCode === null && child.signalCode === null) await exited
    clearTimeout(late)
    await at[Symbol.asyncDispose]()
  }
  try {
    await until(() => out.includes('\n') || child.exitCode !== null, 'the gateway is running')
    if (child.exitCode !== null) throw new Error(err)
    const { url, pid } = JSON.parse(out) as { readonly url: string; readonly pid: number }
    return {
      at,
      url,
      port: Number(new URL(url).port),
      pid,
      child,
      stderr: () => err,
      async status() {
        const { stdout, stderr } = await at.unfold(['status', '--json'])
        if (stdout === '') throw new Error(stderr)
        return JSON.parse(stdout) as GatewayStatus
      },
      readiness: async () => (await fetch(new URL('/readyz', url))).json(),
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}
