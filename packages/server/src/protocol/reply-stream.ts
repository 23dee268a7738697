import type { JSONRPCMessage, RequestId, StreamId } from '@modelcontextprotocol/server'
import type { Reply } from '../wire/exchange.ts'
import { type EventLog, SseStream, sseHeaders } from '../wire/sse.ts'
import type { JsonParts } from './dispatch.ts'

/** How a client can continue to receive a reply after its connection broke. */
export interface ReplyResumption {
  readonly stream: StreamId
  readonly log: EventLog
  /** Every reply is a stream, even if its result comes first. */
  readonly isEager: boolean
  /** Starts the stream, so that a client can resume before it has got a message. */
  readonly priming?: string | undefined
  /** The reply becomes a stream after this time. */
  readonly silenceMs?: number
}

export interface ReplyStreamOptions {
  /** Requests of one HTTP body; their responses go to this stream. */
  readonly ids: readonly RequestId[]
  readonly headers: { readonly [name: string]: string }
  /** Registers a listener for the disconnect of the client. */
  readonly onDisconnect: (listener: () => void) => void
  readonly resumption?: ReplyResumption | undefined
  /** Format of a reply with only a result: JSON, or (in sessions, like the SDK) a stream of one event. */
  readonly form: 'json' | 'events'
}

// Clients may time out a silent connection, so the stream opens after this time even without a result.
const maxSilenceMs = 15_000

/**
 * The reply to the requests of one HTTP body. It is sent in one packet if the result comes first, and as an event stream if
 * another message comes before it.
 */
export class ReplyStream {
  /** Resolves when the status and headers of the reply are known. */
  readonly reply: Promise<Reply>
  readonly #options: ReplyStreamOptions
  readonly #pending: Set<RequestId>
  readonly #stream: SseStream
  readonly #silence: ReturnType<typeof setTimeout>
  #resolve: (reply: Reply) => void = () => undefined
  #isStreaming = false
  #isFinished = false

  constructor(options: ReplyStreamOptions) {
    this.#options = options
    this.#pending = new Set(options.ids)
    const { resumption } = options
    this.#stream = new SseStream({
      id: resumption?.stream ?? crypto.randomUUID(),
      log: resumption?.log,
      onDisconnect: () => this.#disconnected(),
    })
    this.reply = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.#silence = setTimeout(() => this.#open(), resumption?.silenceMs ?? maxSilenceMs)
    if (typeof this.#silence === 'object') this.#silence.unref()
    options.onDisconnect(() => this.#disconnected())
  }

  get stream(): SseStream {
    return this.#stream
  }

  get isPending(): boolean {
    return this.#pending.size > 0
  }

  /** Starts streaming; `first` is written before anything else. */
  open(first?: string): void {
    this.#open()
    if (first !== undefined) this.#stream.writeRaw(first)
  }

  /** Sends a notification or request that belongs to one of the requests. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isFinished) return Promise.resolve()
    this.#open()
    return this.#stream.write(JSON.stringify(message), 'method' in message && message.method === 'notifications/progress')
  }

  /** Sends the response to one of the requests; a cancelled request has none. */
  async respond(id: RequestId, json?: JsonParts, status = 200): Promise<void> {
    if (!this.#pending.delete(id) || this.#isFinished) return
    const isLast = this.#pending.size === 0
    const { ids, resumption } = this.#options
    const isBuffered = isLast && !this.#isStreaming && ids.length === 1 && resumption?.isEager !== true
    if (isBuffered) {
      this.#finish()
      this.#resolve(this.#buffered(json, status))
      return
    }
    if (json !== undefined) {
      this.#open()
      await this.#stream.write(toText(json))
    }
    if (!isLast) return
    this.#open()
    this.#stream.close()
    this.#finish()
  }

  /** Ends the reply without the missing responses. */
  close(): void {
    if (this.#isFinished) return
    this.#pending.clear()
    if (this.#isStreaming) this.#stream.close()
    this.#finish()
    this.#resolve(this.#buffered(undefined, 200))
  }

  #buffered(json: JsonParts | undefined, status: number): Reply {
    const { form, headers } = this.#options
    if (form === 'json' && json !== undefined)
      return { status, headers: { ...headers, 'content-type': 'application/json' }, parts: mergeStrings(json) }
    const parts = json === undefined ? [] : mergeStrings(['event: message\ndata: ', ...json, '\n\n'])
    return { status, headers: { ...headers, ...sseHeaders }, parts }
  }

  #open(): void {
    if (this.#isStreaming || this.#isFinished) return
    this.#isStreaming = true
    clearTimeout(this.#silence)
    const { headers, resumption } = this.#options
    this.#resolve(new Response(this.#stream.open(), { headers: { ...headers, ...sseHeaders } }))
    if (resumption?.priming !== undefined) this.#stream.writeRaw(resumption.priming)
  }

  /** Pending responses are kept only if the client can resume the stream. */
  #disconnected(): void {
    if (!this.#isResumable || !this.isPending) this.close()
  }

  /** Only a client that has received the id of an event can resume. */
  get #isResumable(): boolean {
    const { resumption } = this.#options
    return resumption !== undefined && (resumption.isEager || this.#isStreaming)
  }

  #finish(): void {
    if (this.#isFinished) return
    this.#isFinished = true
    clearTimeout(this.#silence)
  }
}

/** Merges adjacent strings, because each part is a separate write. */
function mergeStrings(parts: JsonParts): JsonParts {
  const merged: JsonParts[number][] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part
    else merged.push(part)
  }
  return merged
}

const decoder = new TextDecoder()

export const toText = (parts: JsonParts): string =>
  parts.map((part) => (typeof part === 'string' ? part : decoder.decode(part))).join('')
