import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Message } from './raw.ts'

/** Health of a server under attack. */
interface Health {
  /** Unhandled rejections and uncaught exceptions. */
  readonly unhandled: readonly string[]
  /** Aborted calls. */
  readonly aborted: number
  readonly rss: number
  readonly heapUsed: number
  /** True if a property was added to `Object.prototype`. */
  readonly polluted: boolean
  readonly sessions: number
}

/** A server in a separate process. */
export interface Target extends AsyncDisposable {
  readonly isAlive: boolean
  health(): Promise<Health>
}

export interface HttpTarget extends Target {
  readonly port: number
}

/** A server on stdio. */
export interface PipeTarget extends Target {
  send(bytes: string | Buffer): void
  /** All output so far. */
  readonly messages: readonly Message[]
  /** Waits for a message of this kind. */
  receives(matches: (message: Message) => boolean): Promise<Message>
  /** Ends its input; resolves with its exit code. */
  end(): Promise<number | null>
}

const program = (file: string): string => fileURLToPath(new URL(file, import.meta.url))
const timeoutMs = 60_000

export const httpTarget = (...args: readonly string[]): Promise<HttpTarget> => overHttp('server.mjs', ['--http', ...args])

/** A gateway to the server of the other attacks. It must stop its child process, so it is stopped with a message. */
export const gatewayTarget = (config: object = {}): Promise<HttpTarget> =>
  overHttp('gateway.mjs', [JSON.stringify(config)], 'End.')

async function overHttp(file: string, args: readonly string[], stopMessage?: string): Promise<HttpTarget> {
  const { child, target, url } = await start(file, args)
  child.stdout?.resume()
  const stop = async (): Promise<void> => {
    if (stopMessage !== undefined && target.isAlive) {
      const exited = once(child, 'exit')
      child.send(stopMessage)
      await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, timeoutMs).unref())])
    }
    await target[Symbol.asyncDispose]()
  }
  return {
    ...target,
    get isAlive() {
      return target.isAlive
    },
    port: Number(new URL(url ?? '').port),
    [Symbol.asyncDispose]: stop,
  }
}

export async function pipeTarget(): Promise<PipeTarget> {
  const { child, target } = await start('server.mjs', [])
  const messages: Message[] = []
  const waiting = new Set<() => void>()
  const parts: string[] = []
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    parts.push(chunk)
    if (!chunk.includes('\n')) return
    const lines = parts.splice(0).join('').split('\n')
    parts.push(lines.pop() ?? '')
    messages.push(...lines.map((line) => JSON.parse(line) as Message))
    for (const check of waiting) check()
  })
  child.stdin?.on('error', () => undefined)
  return {
    ...target,
    get isAlive() {
      return target.isAlive
    },
    messages,
    send: (bytes) => void child.stdin?.write(bytes),
    receives: (matches) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = messages.find(matches)
          if (found === undefined) return
          clearTimeout(late)
          waiting.delete(check)
          resolve(found)
        }
        const late = setTimeout(() => {
          waiting.delete(check)
          reject(
            new Error(
              `Not received within ${timeoutMs} ms; the last messages: ${JSON.stringify(messages.slice(-3)).slice(0, 1_000)}`,
            ),
          )
        }, timeoutMs)
        waiting.add(check)
        check()
      }),
    async end() {
      const exited = child.exitCode === null ? once(child, 'exit') : undefined
      child.stdin?.end()
      await exited
      return child.exitCode
    },
  }
}

async function start(file: string, args: readonly string[]) {
  const child = fork(program(file), args, { stdio: ['pipe', 'pipe', 'ignore', 'ipc'], execArgv: ['--expose-gc'] })
  const [{ url }] = (await once(child, 'message')) as [{ url?: string }]
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  const target: Target = {
    get isAlive() {
      return child.exitCode === null && child.signalCode === null
    },
    health: () => healthOf(child),
    [Symbol.asyncDispose]: stop,
  }
  return { child, target, url }
}

async function healthOf(child: ChildProcess): Promise<Health> {
  const reply = once(child, 'message')
  child.send('How are you?')
  const [health] = (await reply) as [Health]
  return health
}
