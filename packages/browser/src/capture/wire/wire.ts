import type { ConnectOverCDPTransport } from 'playwright-core'
import type { Command, CommandOf, ResultOf } from '../protocol.ts'
import type { Channel, Oversized } from './inbox.ts'

/** What can be told of an event before it is read. */
export interface EventSummary {
  readonly method: string
  /** What kind of console call it is, where it is one. */
  readonly type: string | undefined
  readonly session: string
  readonly bytes: number
}

/** Who listens to the events of the browser. */
export interface Tap {
  /** Whether an event is worth reading at all. */
  admits(event: EventSummary): boolean
  /** An event, and whether Playwright should have it too. `session` is empty for the browser itself. */
  event(method: string, params: unknown, session: string): boolean
  /** An event that was too large to be read. */
  oversized(event: EventSummary): void
}

// How much of bodies the browser keeps for us to ask for; what is larger is never sent.
const bufferLimits = {
  maxTotalBufferSize: 32 * 1024 * 1024,
  maxResourceBufferSize: 4 * 1024 * 1024,
  maxPostDataSize: 64 * 1024,
} as const

// Playwright counts its commands from 1; ours are far from there, and still within the 32 bits that a browser accepts.
const firstId = 1_000_000_000
const commandMs = 30_000

interface PendingCommand {
  readonly resolve: (result: object) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: object
  readonly error?: { readonly message?: string }
  readonly sessionId?: string
}

/**
 * One connection to a browser that Playwright and the capture share. Playwright switches on all that is to be captured
 * anyway; listening to the same sessions means that pages pay for it once, and that nothing starts before we listen.
 */
export class Wire {
  /** For `connectOverCDP`. */
  readonly transport: ConnectOverCDPTransport
  /** Fulfilled with the reason when the connection is gone. */
  readonly closed: Promise<string>
  readonly #channel: Channel
  readonly #pending = new Map<number, PendingCommand>()
  #tap: Tap | undefined
  #id = firstId
  #reason: string | undefined

  constructor(channel: Channel) {
    this.#channel = channel
    this.transport = {
      send: (message: Message) => channel.send(JSON.stringify(withLimits(message))),
      close: () => channel.close(),
    }
    this.closed = new Promise((resolve) => {
      channel.listen({
        message: (bytes) => this.#message(bytes),
        oversized: (message) => this.#oversized(message),
        closed: (reason) => {
          this.#reason = reason
          for (const { reject, timer } of this.#pending.values()) {
            clearTimeout(timer)
            reject(this.#gone())
          }
          this.#pending.clear()
          setImmediate(() => this.transport.onclose?.(reason))
          resolve(reason)
        },
      })
    })
  }

  get isOpen(): boolean {
    return this.#reason === undefined
  }

  tap(tap: Tap): void {
    this.#tap = tap
  }

  /** Sends a command of our own; rejects when the browser refuses it, does not answer in time, or is gone. */
  send<C extends Command>(
    method: C,
    params: CommandOf<C>,
    { session = '', timeoutMs = commandMs }: { readonly session?: string; readonly timeoutMs?: number } = {},
  ): Promise<ResultOf<C>> {
    if (this.#reason !== undefined) return Promise.reject(this.#gone())
    const id = this.#id++
    const answer = new Promise<object>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id)
        reject(new Error(`The browser did not answer ${method} within ${timeoutMs} ms.`))
      }, timeoutMs)
      timer.unref()
      this.#pending.set(id, { resolve, reject, timer })
    })
    this.#channel.send(JSON.stringify({ id, method, params, ...(session !== '' && { sessionId: session }) }))
    return answer as Promise<ResultOf<C>>
  }

  close(): void {
    this.#channel.close()
  }

  #gone(): Error {
    return new Error(`The connection to the browser is gone: ${this.#reason}.`)
  }

  #message(bytes: Buffer): void {
    const head = bytes.toString('latin1', 0, 128)
    const tail = bytes.toString('latin1', Math.max(0, bytes.length - 128))
    const summary = summarizeEvent(head, tail, bytes.length)
    if (summary !== undefined && this.#tap?.admits(summary) === false) return
    const message = parsed(bytes)
    if (message === undefined) return
    const { id, method, params, sessionId = '' } = message
    if (id !== undefined && id >= firstId) this.#answer(id, message)
    else if (method === undefined || this.#tap?.event(method, params, sessionId) !== false) this.#pass(message)
  }

  /**
   * Gives a message to Playwright, in a turn of its own. Playwright begins to listen for a tab's events when an answer
   * before them has run its course; of several messages in one turn it would miss those, and never meet the tab.
   */
  #pass(message: object): void {
    setImmediate(() => this.transport.onmessage?.(message))
  }

  #oversized({ head, tail, bytes }: Oversized): void {
    const summary = summarizeEvent(head, tail, bytes)
    if (summary !== undefined) this.#tap?.oversized(summary)
    const id = Number(/^\{"id":(\d+)/.exec(head)?.[1])
    if (Number.isNaN(id)) return
    // Somebody waits for this: without an answer it would be for ever.
    const error = { code: -32_000, message: `The browser's answer is too large to be read (${bytes} bytes).` }
    const session = sessionIn(tail)
    if (id >= firstId) this.#answer(id, { error })
    else this.#pass({ id, error, ...(session !== '' && { sessionId: session }) })
  }

  #answer(id: number, { result, error }: Message): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    this.#pending.delete(id)
    clearTimeout(pending.timer)
    if (error === undefined) pending.resolve(result ?? {})
    else pending.reject(new Error(error.message ?? 'The browser refused a command.'))
  }
}

/** The same message; where Playwright asks for requests, with limits on what the browser keeps of them. */
function withLimits(message: Message): Message {
  if (message.method !== 'Network.enable') return message
  return { ...message, params: { ...Object(message.params), ...bufferLimits } }
}

function summarizeEvent(head: string, tail: string, bytes: number): EventSummary | undefined {
  const [, method, type] = /^\{"method":"([\w.]+)"(?:,"params":\{"type":"(\w+)")?/.exec(head) ?? []
  if (method === undefined) return undefined
  return { method, type, session: sessionIn(tail), bytes }
}

function sessionIn(tail: string): string {
  return /"sessionId":"(\w+)"\}$/.exec(tail)?.[1] ?? ''
}

function parsed(bytes: Buffer): Message | undefined {
  try {
    return JSON.parse(bytes.toString()) as Message
  } catch {
    return undefined
  }
}
