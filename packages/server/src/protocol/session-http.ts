import {
  DEFAULT_NEGOTIATED_PROTOCOL_VERSION,
  type EventStore,
  isInitializeRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageExtraInfo,
  type RequestId,
  type StreamId,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server'
import { Failure } from '@unfold-mcp/core'
import { duplicateId, errorReply, failureReply, idOf, wellFormed } from '../wire/errors.ts'
import type { Exchange, Reply } from '../wire/exchange.ts'
import { messageOf } from '../wire/message.ts'
import { SseStream, sseHeaders } from '../wire/sse.ts'
import type { JsonParts } from './dispatch.ts'
import { ReplyStream } from './reply-stream.ts'

/** How a client whose stream broke reads on; without an event store it misses what was sent meanwhile. */
export interface Resumption {
  /** Keeps the events of one session's streams. */
  readonly eventStore?: () => EventStore
  /** How long such a client is asked to wait before it reconnects. */
  readonly retryMs?: number
}

/** Answers a request itself: returns `true` for one that it takes, and later calls `respond`. */
export type Take = (request: JSONRPCRequest, exchange: Exchange) => boolean

// Ids of streams are kept in event stores, so this one is the same as ever.
const standaloneId = '_GET_stream'

// From this revision on a stream may begin with an event that has an id and no data, for a client to come back to.
const firstWithPriming = '2025-11-25'

/**
 * Streamable HTTP for one session: decides on which stream each message goes out. The protocol server of the SDK is connected to
 * it like to any transport, and `take` answers what is not for the SDK.
 */
export class SessionHttpTransport implements Transport {
  readonly sessionId: string
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void
  /** Called when the client opens the stream on which it hears of changes. */
  onlisten: () => void = () => undefined
  take: Take = () => false
  /** Called for a request that the client cancelled. */
  oncancel: (id: RequestId) => void = () => undefined
  readonly #store: EventStore | undefined
  readonly #retryMs: number | undefined
  readonly #standalone: SseStream
  /** The requests that are being answered, each with the stream for its response. */
  readonly #replies = new Map<RequestId, ReplyStream>()
  #isInitialized = false
  #isClosed = false

  constructor(sessionId: string, { eventStore, retryMs }: Resumption) {
    this.sessionId = sessionId
    this.#store = eventStore?.()
    this.#retryMs = retryMs
    this.#standalone = new SseStream({ id: standaloneId, store: this.#store, left: () => undefined })
  }

  async start(): Promise<void> {
    // Requests come to `answer`.
  }

  get isResumable(): boolean {
    return this.#store !== undefined
  }

  /** Whether the client has the stream open on which it hears of changes. */
  get isListening(): boolean {
    return this.#standalone.isOpen
  }

  /** Whether a request is being answered or the client listens. */
  get isBusy(): boolean {
    return this.#replies.size > 0 || this.isListening
  }

  async answer(exchange: Exchange, body: unknown, extra: Omit<MessageExtraInfo, 'request'>): Promise<Reply> {
    if (exchange.method === 'POST') return this.#post(exchange, body, extra)
    const refused = this.#refusedVersion(exchange)
    if (refused !== undefined) return refused
    if (exchange.method === 'GET') return this.#get(exchange)
    await this.close()
    return { status: 200, headers: {}, parts: [] }
  }

  /** Sends the response to a request that `take` took; without one, there is none. */
  async respond(id: RequestId, json?: JsonParts): Promise<void> {
    const reply = this.#replies.get(id)
    this.#replies.delete(id)
    await reply?.respond(id, json)
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message)) {
      if (message.id !== undefined) await this.respond(message.id, [JSON.stringify(message)])
      return
    }
    const related = options?.relatedRequestId
    const reply = related === undefined ? undefined : this.#replies.get(related)
    // What belongs to a request that is over has no stream any more; a notification is not worth an error.
    if (related !== undefined && reply === undefined) return
    await (reply === undefined ? this.#standalone.write(JSON.stringify(message)) : reply.send(message))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const reply of new Set(this.#replies.values())) reply.close()
    this.#replies.clear()
    this.#standalone.close()
    this.onclose?.()
  }

  async #post(exchange: Exchange, body: unknown, extra: Omit<MessageExtraInfo, 'request'>): Promise<Reply> {
    const accept = exchange.header('accept')
    if (accept?.includes('application/json') !== true || !accept.includes('text/event-stream'))
      return refusal(406, 'Not Acceptable: send "Accept: application/json, text/event-stream".')
    const messages = messagesIn(body)
    if (messages === undefined) return malformed(body)
    const isGreeting = messages.some((message) => isInitializeRequest(message))
    const refused = isGreeting ? this.#refusedGreeting(messages) : this.#refusedVersion(exchange)
    if (refused !== undefined) return refused
    const requests = messages.filter((message): message is JSONRPCRequest => 'method' in message && 'id' in message)
    const ids = requests.map(({ id }) => id)
    const taken = ids.find((id, index) => this.#replies.has(id) || ids.indexOf(id) !== index)
    if (taken !== undefined) return failureReply(400, duplicateId(taken), { id: idOf(body), code: -32600 })
    if (isGreeting) this.#isInitialized = true
    const reply = ids.length === 0 ? undefined : await this.#replyTo(ids, exchange, messages)
    for (const message of messages) this.#deliver(message, exchange, extra)
    return reply === undefined ? { status: 202, headers: {}, parts: [] } : reply.reply
  }

  async #replyTo(ids: readonly RequestId[], exchange: Exchange, messages: readonly JSONRPCMessage[]): Promise<ReplyStream> {
    const reply = new ReplyStream({
      ids,
      headers: { 'mcp-session-id': this.sessionId },
      gone: (left) => exchange.gone(left),
      store: this.#store,
      form: 'events',
    })
    for (const id of ids) this.#replies.set(id, reply)
    if (this.#store !== undefined && revisionOf(exchange, messages) >= firstWithPriming) {
      const id = await this.#store.storeEvent(reply.stream.id, {} as JSONRPCMessage)
      const retry = this.#retryMs === undefined ? '' : `retry: ${this.#retryMs}\n`
      reply.open(`id: ${id}\n${retry}data: \n\n`)
    }
    return reply
  }

  #deliver(message: JSONRPCMessage, exchange: Exchange, extra: Omit<MessageExtraInfo, 'request'>): void {
    if (!('method' in message)) {
      this.onmessage?.(message, extra)
      return
    }
    if ('id' in message) {
      if (!this.take(message, exchange))
        this.onmessage?.(message, { ...extra, request: exchange.request(), ...this.#polling(message) })
      return
    }
    if (message.method === 'notifications/cancelled') this.#cancel(message.params?.requestId as RequestId)
    this.onmessage?.(message, extra)
  }

  /** What closes the connection of a request for now, where the client can come back for the rest. */
  disconnecting(id: RequestId): (() => void) | undefined {
    return this.#store === undefined ? undefined : () => this.#replies.get(id)?.stream.close()
  }

  #polling({ id }: JSONRPCRequest): MessageExtraInfo {
    const closeSSEStream = this.disconnecting(id)
    return closeSSEStream === undefined ? {} : { closeSSEStream, closeStandaloneSSEStream: () => this.#standalone.close() }
  }

  /** A cancelled request gets no response. */
  #cancel(id: RequestId): void {
    this.oncancel(id)
    void this.respond(id)
  }

  async #get(exchange: Exchange): Promise<Reply> {
    if (exchange.header('accept')?.includes('text/event-stream') !== true)
      return refusal(406, 'Not Acceptable: send "Accept: text/event-stream".')
    const lastEventId = exchange.header('last-event-id')
    if (this.#store !== undefined && lastEventId !== undefined) return this.#resume(this.#store, lastEventId)
    if (this.#standalone.isOpen) return refusal(409, 'Conflict: this session has a stream open already.')
    const body = this.#standalone.open()
    this.onlisten()
    return this.#streaming(body)
  }

  /** Sends what the client missed, and then goes on with the stream that it read. */
  async #resume(store: EventStore, lastEventId: string): Promise<Reply> {
    const missed: (readonly [string, JSONRPCMessage])[] = []
    let id: StreamId
    try {
      const stream = await store.getStreamIdForEventId?.(lastEventId)
      if (store.getStreamIdForEventId !== undefined && stream === undefined)
        return refusal(400, 'Last-Event-ID names no event of this session.')
      if (stream !== undefined && this.#streamOf(stream)?.isOpen === true)
        return refusal(409, 'Conflict: that stream is open already.')
      id = await store.replayEventsAfter(lastEventId, {
        send: async (eventId, message) => void missed.push([eventId, message]),
      })
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)))
      return refusal(500, 'The missed events could not be read.')
    }
    if (this.#isClosed) return refusal(404, 'Session not found')
    // A stream whose requests were all answered has nothing more to come.
    const live = this.#streamOf(id)
    const stream = live ?? new SseStream({ id, left: () => undefined })
    const body = stream.open(new Set(missed.map(([eventId]) => eventId)))
    for (const [eventId, message] of missed)
      stream.writeRaw(`event: message\nid: ${eventId}\ndata: ${JSON.stringify(message)}\n\n`)
    if (live === undefined) stream.close()
    return this.#streaming(body)
  }

  #streamOf(id: StreamId): SseStream | undefined {
    if (id === standaloneId) return this.#standalone
    return [...this.#replies.values()].map(({ stream }) => stream).find((stream) => stream.id === id)
  }

  #streaming(body: ReadableStream<Uint8Array>): Response {
    return new Response(body, { headers: { ...sseHeaders, 'mcp-session-id': this.sessionId } })
  }

  #refusedGreeting(messages: readonly JSONRPCMessage[]): Reply | undefined {
    if (this.#isInitialized) return refusal(400, 'This session is initialized already.', -32600)
    return messages.length > 1 ? refusal(400, 'Send "initialize" alone.', -32600) : undefined
  }

  #refusedVersion(exchange: Exchange): Reply | undefined {
    const version = exchange.header('mcp-protocol-version')
    if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return undefined
    return refusal(
      400,
      `Bad Request: unsupported protocol version (supported versions: ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')})`,
    )
  }
}

/** The messages of a body, or `undefined` where one of them is not a JSON-RPC message. */
function messagesIn(body: unknown): readonly JSONRPCMessage[] | undefined {
  const messages = (Array.isArray(body) ? body : [body]).map(messageOf)
  return messages.includes(undefined) ? undefined : (messages as readonly JSONRPCMessage[])
}

function malformed(body: unknown): Reply {
  const problem = 'The body is not a JSON-RPC message'
  return failureReply(400, new Failure('invalid_request', `${problem}. ${wellFormed}`, { problem }), {
    code: -32600,
    id: idOf(body),
  })
}

/** The revision that a client speaks, also in its first request. */
function revisionOf(exchange: Exchange, messages: readonly JSONRPCMessage[]): string {
  const greeting = messages.find((message) => isInitializeRequest(message))
  if (greeting !== undefined && isInitializeRequest(greeting)) return greeting.params.protocolVersion
  return exchange.header('mcp-protocol-version') ?? DEFAULT_NEGOTIATED_PROTOCOL_VERSION
}

const refusal = (status: number, message: string, code = -32000): Reply => errorReply(status, { code, message })
