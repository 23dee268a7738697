import {
  DEFAULT_NEGOTIATED_PROTOCOL_VERSION,
  type EventStore,
  isInitializeRequest,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type MessageExtraInfo,
  type RequestId,
  type StreamId,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server'
import { Failure } from '@unfold-mcp/core'
import { duplicateId, errorReply, failureReply, requestFormatHint, requestIdOf } from '../../wire/errors.ts'
import type { Exchange, Reply } from '../../wire/exchange.ts'
import { parseMessage } from '../../wire/message.ts'
import { eventOf, logIn, primingOf, SseStream, sseHeaders } from '../../wire/sse.ts'
import type { JsonParts } from '../dispatch.ts'
import { type ReplyResumption, ReplyStream } from '../reply-stream.ts'
import { parseEventId, type ReplyPosition } from './reply-position.ts'

/** Resumption of broken streams. Without an event store a client misses messages sent while it was disconnected. */
export interface Resumption {
  /** Creates the event store of one session. */
  readonly eventStore?: () => EventStore
  /** Delay before a client reconnects (the `retry` field of server-sent events). */
  readonly retryMs?: number
}

/** Handles requests for our own methods: returns `true` if it will call `respond` later. */
export type OwnRequestHandler = (request: JSONRPCRequest, exchange: Exchange) => boolean

export type JSONRPCResponse = Exclude<JSONRPCMessage, { method: string }>

/** How messages of a session find the replica that they concern, and streams continue on another one. */
export interface Replication {
  /** Makes the id of a request to the client unique among replicas. */
  uniqueId(id: RequestId): RequestId
  /** Returns a response of the client with the original id; `undefined` if it is for another replica, and was forwarded. */
  incoming(response: JSONRPCResponse): JSONRPCResponse | undefined
  /** Sends a notification of the client to the other replicas. */
  forward(message: JSONRPCMessage): void
  /** Id of every event of the standalone stream: a client that sends it has had this stream before. */
  readonly standaloneEventId: string
  /** How the reply to these requests can be resumed; `isPrimed`: the client expects an event without data. */
  resumption(ids: readonly RequestId[], isPrimed: boolean): ReplyResumption | undefined
  /** Returns the rest of a reply whose connection broke. */
  resume(position: ReplyPosition): ReadableStream<Uint8Array>
  /** True while a client receives the rest of a reply. */
  readonly isResuming: boolean
}

// Persisted in event stores: it must not change.
const standaloneId = '_GET_stream'

// First revision whose streams start with an event that has an id and no data, so that a client can resume from it.
const firstWithPriming = '2025-11-25'

/**
 * Streamable HTTP for one session: selects the stream for each message. The SDK's server connects to it like to any transport;
 * `handleOwn` handles the requests that are not for the SDK.
 */
export class SessionHttpTransport implements Transport {
  readonly sessionId: string
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void
  /** Called when the client opens the standalone GET stream; `isAgain`: it has had one before. */
  onlisten: (isAgain: boolean) => void = () => undefined
  handleOwn: OwnRequestHandler = () => false
  /** Called when the client cancels a request. */
  oncancel: (id: RequestId) => void = () => undefined
  /** Called when the standalone GET stream has closed. */
  onunlisten: () => void = () => undefined
  #replication: Replication | undefined
  readonly #store: EventStore | undefined
  readonly #retryMs: number | undefined
  readonly #standalone: SseStream
  /** Requests of `replay` without a response. Created by the first one: only sessions of other replicas have any. */
  #replayed: Map<RequestId, () => void> | undefined
  /** Running requests and the reply that each belongs to. */
  readonly #replies = new Map<RequestId, ReplyStream>()
  #isInitialized = false
  #isClosed = false

  constructor(sessionId: string, { eventStore, retryMs }: Resumption) {
    this.sessionId = sessionId
    this.#store = eventStore?.()
    this.#retryMs = retryMs
    this.#standalone = new SseStream({
      id: standaloneId,
      ...(this.#store !== undefined && { log: logIn(this.#store, standaloneId) }),
      onDisconnect: () => this.onunlisten(),
    })
  }

  /** Set for a session that several replicas serve. */
  set replication(replication: Replication) {
    this.#replication = replication
    // These messages need no store: their effect is repeated when the client opens the stream again.
    if (this.#store === undefined) this.#standalone.log = { add: async () => replication.standaloneEventId }
  }

  async start(): Promise<void> {
    // Requests arrive through `handle`.
  }

  get isResumable(): boolean {
    return this.#store !== undefined
  }

  /** True while the standalone GET stream is open. */
  get isListening(): boolean {
    return this.#standalone.isOpen
  }

  get isBusy(): boolean {
    return this.#replies.size > 0 || this.isListening || this.#replication?.isResuming === true
  }

  async handle(exchange: Exchange, body: unknown, extra: Omit<MessageExtraInfo, 'request'>): Promise<Reply> {
    if (exchange.method === 'POST') return this.#post(exchange, body, extra)
    const refused = this.#refusedVersion(exchange)
    if (refused !== undefined) return refused
    if (exchange.method === 'GET') return this.#get(exchange)
    await this.close()
    return { status: 200, headers: {}, parts: [] }
  }

  /** Handles a message that the client sent to another replica. */
  receive(message: JSONRPCMessage): void {
    if ('method' in message && message.method === 'notifications/cancelled') this.#cancel(message.params?.requestId as RequestId)
    this.onmessage?.(message)
  }

  /** Handles a request that the client made earlier, to another replica. Nobody gets the response. */
  replay(request: JSONRPCRequest): Promise<void> {
    if (request.method === 'initialize') this.#isInitialized = true
    return new Promise((resolve) => {
      this.#replayed ??= new Map()
      this.#replayed.set(request.id, resolve)
      this.onmessage?.(request)
    })
  }

  /** True while requests run whose responses belong to this stream. */
  hasReply(stream: StreamId): boolean {
    return this.#streamOf(stream) !== undefined
  }

  /** Ends the standalone GET stream: the client has another one. */
  endStandalone(): void {
    this.#standalone.close()
  }

  /** Sends the response to a request; a cancelled request has none. */
  async respond(id: RequestId, json?: JsonParts): Promise<void> {
    this.#replayed?.get(id)?.()
    this.#replayed?.delete(id)
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
    // The request has finished, so its stream is closed; a late notification is dropped.
    if (related !== undefined && reply === undefined) return
    const sent = this.#replication === undefined ? message : withUniqueId(message, this.#replication)
    await (reply === undefined ? this.#standalone.write(JSON.stringify(sent)) : reply.send(sent))
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
    const messages = parseMessages(body)
    if (messages === undefined) return malformed(body)
    const isInitialize = messages.some((message) => isInitializeRequest(message))
    const refused = isInitialize ? this.#refusedInitialize(messages) : this.#refusedVersion(exchange)
    if (refused !== undefined) return refused
    const requests = messages.filter((message): message is JSONRPCRequest => 'method' in message && 'id' in message)
    const ids = requests.map(({ id }) => id)
    const duplicate = ids.find((id, index) => this.#replies.has(id) || ids.indexOf(id) !== index)
    if (duplicate !== undefined) return failureReply(400, duplicateId(duplicate), { id: requestIdOf(body), code: -32600 })
    if (isInitialize) this.#isInitialized = true
    const reply = ids.length === 0 ? undefined : await this.#createReply(ids, exchange, messages)
    for (const message of messages) this.#deliver(message, exchange, extra)
    return reply === undefined ? { status: 202, headers: {}, parts: [] } : reply.reply
  }

  async #createReply(ids: readonly RequestId[], exchange: Exchange, messages: readonly JSONRPCMessage[]): Promise<ReplyStream> {
    const isPrimed = revisionOf(exchange, messages) >= firstWithPriming
    const reply = new ReplyStream({
      ids,
      headers: { 'mcp-session-id': this.sessionId },
      onDisconnect: (listener) => exchange.onDisconnect(listener),
      resumption: this.#resumption(ids, isPrimed),
      form: 'events',
    })
    for (const id of ids) this.#replies.set(id, reply)
    if (this.#store !== undefined && isPrimed)
      reply.open(primingOf(await this.#store.storeEvent(reply.stream.id, {} as JSONRPCMessage), this.#retryMs))
    return reply
  }

  #resumption(ids: readonly RequestId[], isPrimed: boolean): ReplyResumption | undefined {
    if (this.#store === undefined) return this.#replication?.resumption(ids, isPrimed)
    const stream = crypto.randomUUID()
    return { stream, log: logIn(this.#store, stream), isEager: true }
  }

  #deliver(message: JSONRPCMessage, exchange: Exchange, extra: Omit<MessageExtraInfo, 'request'>): void {
    if (!('method' in message)) {
      const response = this.#replication === undefined ? message : this.#replication.incoming(message)
      if (response !== undefined) this.onmessage?.(response, extra)
      return
    }
    if ('id' in message) {
      if (!this.handleOwn(message, exchange))
        this.onmessage?.(message, { ...extra, request: exchange.request(), ...this.#pollingCallbacks(message) })
      return
    }
    if (message.method === 'notifications/cancelled') {
      this.#cancel(message.params?.requestId as RequestId)
      this.#replication?.forward(message)
    }
    this.onmessage?.(message, extra)
  }

  /** Returns a function that closes the stream of a request, if the client can resume it. */
  streamCloser(id: RequestId): (() => void) | undefined {
    return this.#store === undefined ? undefined : () => this.#replies.get(id)?.stream.close()
  }

  #pollingCallbacks({ id }: JSONRPCRequest): MessageExtraInfo {
    const closeSSEStream = this.streamCloser(id)
    return closeSSEStream === undefined ? {} : { closeSSEStream, closeStandaloneSSEStream: () => this.#standalone.close() }
  }

  #cancel(id: RequestId): void {
    this.oncancel(id)
    void this.respond(id)
  }

  async #get(exchange: Exchange): Promise<Reply> {
    if (exchange.header('accept')?.includes('text/event-stream') !== true)
      return refusal(406, 'Not Acceptable: send "Accept: text/event-stream".')
    const lastEventId = exchange.header('last-event-id')
    if (this.#store !== undefined && lastEventId !== undefined) return this.#resume(this.#store, lastEventId)
    const position = lastEventId === undefined ? undefined : parseEventId(lastEventId)
    if (this.#replication !== undefined && position !== undefined) return this.#eventStream(this.#replication.resume(position))
    const isAgain = this.#replication !== undefined && lastEventId !== undefined
    // A client that has lost its stream knows that earlier than this end of the connection.
    if (this.#standalone.isOpen && !isAgain) return refusal(409, 'Conflict: this session already has an open stream.')
    const body = this.#standalone.open()
    if (this.#replication !== undefined && this.#store === undefined && revisionOf(exchange, []) >= firstWithPriming)
      this.#standalone.writeRaw(primingOf(this.#replication.standaloneEventId))
    this.onlisten(isAgain)
    return this.#eventStream(body)
  }

  /** Replays the missed events, then continues the stream. */
  async #resume(store: EventStore, lastEventId: string): Promise<Reply> {
    const missed: (readonly [string, JSONRPCMessage])[] = []
    let id: StreamId
    try {
      const stream = await store.getStreamIdForEventId?.(lastEventId)
      if (store.getStreamIdForEventId !== undefined && stream === undefined)
        return refusal(400, 'Last-Event-ID is not an event of this session.')
      if (stream !== undefined && this.#streamOf(stream)?.isOpen === true)
        return refusal(409, 'Conflict: that stream is already open.')
      id = await store.replayEventsAfter(lastEventId, {
        send: async (eventId, message) => void missed.push([eventId, message]),
      })
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)))
      return refusal(500, 'Failed to read the missed events.')
    }
    if (this.#isClosed) return refusal(404, 'Session not found')
    // Undefined if all requests of the stream have responses.
    const live = this.#streamOf(id)
    const stream = live ?? new SseStream({ id, onDisconnect: () => undefined })
    const body = stream.open(new Set(missed.map(([eventId]) => eventId)))
    const events = missed.map(([eventId, message]) => eventOf(JSON.stringify(message), eventId))
    // In one write, because nobody can read between several.
    if (events.length > 0) stream.writeRaw(events.join(''))
    if (live === undefined) stream.close()
    return this.#eventStream(body)
  }

  #streamOf(id: StreamId): SseStream | undefined {
    if (id === standaloneId) return this.#standalone
    return [...this.#replies.values()].map(({ stream }) => stream).find((stream) => stream.id === id)
  }

  #eventStream(body: ReadableStream<Uint8Array>): Response {
    return new Response(body, { headers: { ...sseHeaders, 'mcp-session-id': this.sessionId } })
  }

  #refusedInitialize(messages: readonly JSONRPCMessage[]): Reply | undefined {
    if (this.#isInitialized) return refusal(400, 'This session is already initialized.', -32600)
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

function withUniqueId(message: JSONRPCRequest | JSONRPCNotification, replication: Replication): JSONRPCMessage {
  if ('id' in message) return { ...message, id: replication.uniqueId(message.id) }
  const { requestId } = message.params ?? {}
  if (message.method !== 'notifications/cancelled' || requestId === undefined) return message
  return { ...message, params: { ...message.params, requestId: replication.uniqueId(requestId as RequestId) } }
}

/** Returns `undefined` if one of the messages is not JSON-RPC. */
function parseMessages(body: unknown): readonly JSONRPCMessage[] | undefined {
  const messages = (Array.isArray(body) ? body : [body]).map(parseMessage)
  return messages.includes(undefined) ? undefined : (messages as readonly JSONRPCMessage[])
}

function malformed(body: unknown): Reply {
  const problem = 'The body is not a JSON-RPC message'
  return failureReply(400, new Failure('invalid_request', `${problem}. ${requestFormatHint}`, { problem }), {
    code: -32600,
    id: requestIdOf(body),
  })
}

/** Returns the protocol revision of the client: from `initialize`, or from the header. */
function revisionOf(exchange: Exchange, messages: readonly JSONRPCMessage[]): string {
  const initialize = messages.find((message) => isInitializeRequest(message))
  if (initialize !== undefined && isInitializeRequest(initialize)) return initialize.params.protocolVersion
  return exchange.header('mcp-protocol-version') ?? DEFAULT_NEGOTIATED_PROTOCOL_VERSION
}

const refusal = (status: number, message: string, code = -32000): Reply => errorReply(status, { code, message })
