import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'

const program = fileURLToPath(new URL('careless.mjs', import.meta.url))
const timeout = 60_000

/** A running `careless.mjs`. */
export interface Careless extends AsyncDisposable {
  readonly port: number
  /** Everything on standard error so far. */
  output(): string
  /** Waits for a text on standard error. */
  prints(text: string | RegExp): Promise<void>
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>
  readonly isRunning: boolean
}

export async function careless(...args: readonly string[]): Promise<Careless> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.on('data', (chunk) => {
    output += String(chunk)
  })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const prints = (text: string | RegExp): Promise<void> =>
    vi.waitFor(
      () => {
        if (!(typeof text === 'string' ? output.includes(text) : text.test(output)))
          throw new Error(`${text} was not printed: ${output}`)
      },
      { timeout, interval: 20 },
    )
  const address = /Serving on http:\/\/127\.0\.0\.1:(\d+)\/mcp/u
  await prints(address)
  return {
    port: Number(address.exec(output)?.[1]),
    output: () => output,
    prints,
    exited,
    get isRunning() {
      return child.exitCode === null && child.signalCode === null
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
