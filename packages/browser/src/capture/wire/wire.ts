import type { ConnectOverCDPTransport } from 'playwright-core'
import type { Command, CommandOf, ResultOf } from '../protocol.ts'
import type { Channel, Oversized } from './inbox.ts'

/** Summary of an event, read without parsing it. */
export interface EventSummary {
  readonly method: string
  /** Type of a console call. */
  readonly type: string | undefined
  readonly session: string
  readonly bytes: number
}

/** Listener for browser events. */
export interface Tap {
  /** Returns false to drop an event before parsing. */
  admits(event: EventSummary): boolean
  /** Handles an event; returns whether Playwright gets it too. `session` is empty for the browser itself. */
  event(method: string, params: unknown, session: string): boolean
  /** Handles an event that was too large to parse. */
  oversized(event: EventSummary): void
}

// Limits for bodies that the browser keeps; larger ones are never sent.
const bufferLimits = {
  maxTotalBufferSize: 32 * 1024 * 1024,
  maxResourceBufferSize: 4 * 1024 * 1024,
  maxPostDataSize: 64 * 1024,
} as const

// Playwright counts from 1; this range does not overlap and stays within 32 bits.
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
 * Connection to a browser shared by Playwright and the capture. Playwright enables the domains to capture anyway; using the same
 * sessions means that pages pay for it once, and that no event is missed.
 */
export class Wire {
  /** Transport for `connectOverCDP`. */
  readonly transport: ConnectOverCDPTransport
  /** Resolves with the reason when the connection is closed. */
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

  /** Sends a command; rejects on an error, a timeout or a closed connection. */
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
        reject(new Error(`The browser did not respond to ${method} within ${timeoutMs} ms.`))
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
    return new Error(`The connection to the browser is closed: ${this.#reason}.`)
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
   * Delivers a message to Playwright in its own turn. Playwright subscribes to the events of a tab after handling the preceding
   * reply; with several messages in one turn it would miss them, and never detect the tab.
   */
  #pass(message: object): void {
    setImmediate(() => this.transport.onmessage?.(message))
  }

  #oversized({ head, tail, bytes }: Oversized): void {
    const summary = summarizeEvent(head, tail, bytes)
    if (summary !== undefined) this.#tap?.oversized(summary)
    const id = Number(/^\{"id":(\d+)/.exec(head)?.[1])
    if (Number.isNaN(id)) return
    // Without a reply the caller would wait forever.
    const error = { code: -32_000, message: `The reply of the browser is too large (${bytes} bytes).` }
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

/** Adds buffer limits when Playwright enables network events. */
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
