import type { EventStore, JSONRPCMessage, RequestId } from '@modelcontextprotocol/server'
import type { Reply } from '../wire/exchange.ts'
import { SseStream, sseHeaders } from '../wire/sse.ts'
import type { JsonParts } from './dispatch.ts'

export interface ReplyStreamOptions {
  /** The requests that came in one body and are answered on this stream. */
  readonly ids: readonly RequestId[]
  readonly headers: { readonly [name: string]: string }
  /** Calls what it is given when the client has gone. */
  readonly gone: (left: () => void) => void
  readonly store?: EventStore | undefined
  /** How a reply is sent whose result comes first: as JSON, or (in sessions, as the SDK does) as a stream of one event. */
  readonly form: 'json' | 'events'
}

// A client that hears nothing for this long may take the connection for dead, so the stream opens before the result is there.
const silenceMs = 15_000

/**
 * The reply to the requests of one HTTP body. A result that comes first is the whole reply, in one packet; anything before it
 * makes the reply a stream of events.
 */
export class ReplyStream {
  /** Resolves when the status and headers of the reply are known. */
  readonly reply: Promise<Reply>
  readonly #options: ReplyStreamOptions
  readonly #pending: Set<RequestId>
  readonly #stream: SseStream
  readonly #silence: ReturnType<typeof setTimeout>
  #resolve: (reply: Reply) => void = () => undefined
  #isOpened = false
  #isOver = false

  constructor(options: ReplyStreamOptions) {
    this.#options = options
    this.#pending = new Set(options.ids)
    this.#stream = new SseStream({ id: crypto.randomUUID(), store: options.store, left: () => this.#left() })
    this.reply = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.#silence = setTimeout(() => this.#open(), silenceMs)
    if (typeof this.#silence === 'object') this.#silence.unref()
    options.gone(() => this.#left())
  }

  get stream(): SseStream {
    return this.#stream
  }

  /** Whether requests of it are still being answered. */
  get isPending(): boolean {
    return this.#pending.size > 0
  }

  /** Makes it a stream now; `first` is written before anything else. */
  open(first?: string): void {
    this.#open()
    if (first !== undefined) this.#stream.writeRaw(first)
  }

  /** Sends a message that belongs to one of the requests and is not its response. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    this.#open()
    return this.#stream.write(JSON.stringify(message))
  }

  /** Sends the response to one of the requests; without one the request was cancelled, and there is none. */
  async respond(id: RequestId, json?: JsonParts, status = 200): Promise<void> {
    if (!this.#pending.delete(id) || this.#isOver) return
    const isLast = this.#pending.size === 0
    const isWhole = isLast && !this.#isOpened && this.#options.ids.length === 1 && this.#options.store === undefined
    if (isWhole) {
      this.#finish()
      this.#resolve(this.#whole(json, status))
      return
    }
    if (json !== undefined) {
      this.#open()
      await this.#stream.write(textOf(json))
    }
    if (!isLast) return
    this.#open()
    this.#stream.close()
    this.#finish()
  }

  /** Ends it with whatever was sent. */
  close(): void {
    if (this.#isOver) return
    this.#pending.clear()
    if (this.#isOpened) this.#stream.close()
    this.#finish()
    this.#resolve(this.#whole(undefined, 200))
  }

  /** The reply in one packet. */
  #whole(json: JsonParts | undefined, status: number): Reply {
    const { form, headers } = this.#options
    if (form === 'json' && json !== undefined)
      return { status, headers: { ...headers, 'content-type': 'application/json' }, parts: joined(json) }
    const parts = json === undefined ? [] : joined(['event: message\ndata: ', ...json, '\n\n'])
    return { status, headers: { ...headers, ...sseHeaders }, parts }
  }

  #open(): void {
    if (this.#isOpened || this.#isOver) return
    this.#isOpened = true
    clearTimeout(this.#silence)
    this.#resolve(new Response(this.#stream.open(), { headers: { ...this.#options.headers, ...sseHeaders } }))
  }

  /** The client has gone. What it is still owed is kept only where it can come back for it. */
  #left(): void {
    if (this.#options.store === undefined || !this.isPending) this.close()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#silence)
  }
}

/** The same parts with texts that follow each other in one: every part is written on its own. */
function joined(parts: JsonParts): JsonParts {
  const made: JsonParts[number][] = []
  for (const part of parts) {
    const last = made.at(-1)
    if (typeof part === 'string' && typeof last === 'string') made[made.length - 1] = last + part
    else made.push(part)
  }
  return made
}

const decoder = new TextDecoder()

export const textOf = (parts: JsonParts): string =>
  parts.map((part) => (typeof part === 'string' ? part : decoder.decode(part))).join('')
