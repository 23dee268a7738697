import type {
  Client,
  JSONRPCMessage,
  RequestOptions,
  ServerCapabilities,
  StandardSchemaV1,
  Transport,
} from '@modelcontextprotocol/client'
import { toClientError } from '../errors/conversion.ts'
import { type ClientError, cancelled } from '../errors/errors.ts'
import type { Clock } from '../time/clock.ts'
import { HttpTransport } from '../transports/http.ts'
import type { PushStream } from '../transports/notification-stream.ts'
import { SseTransport } from '../transports/sse.ts'
import { StdioTransport } from '../transports/stdio.ts'
import { fixCacheHints } from './cache-hints.ts'
import { DirectRequests } from './direct-requests.ts'
import type { RelayedRequests } from './relay.ts'

/** Protocol generation: with sessions, or (2026-07-28) without. */
export type Era = 'session' | 'stateless'

/** Implementation info of a server. */
export interface ServerInfo {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
}

/** Result of the handshake. */
export interface Agreement {
  readonly era: Era
  readonly protocolVersion: string
  readonly server: ServerInfo
  readonly capabilities: ServerCapabilities
  readonly instructions?: string
}

export interface SessionParts {
  readonly client: Client
  readonly transport: Transport
  readonly agreement: Agreement
  /** Name of the server in messages. */
  readonly label: string
  readonly relays: RelayedRequests
  readonly clock: Clock
  /** The agreement is from an earlier connection, so an announced identity may be outdated. */
  readonly isResumed?: boolean
  /** Releases what was created for this session only. */
  readonly release?: () => Promise<void>
}

const anything: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'unfold', validate: (value) => ({ value }) },
}

/** One SDK client on one transport, from the handshake until it closes. */
export class Session {
  readonly client: Client
  readonly agreement: Agreement
  readonly label: string
  /** Requests made for other clients. */
  readonly relays: RelayedRequests
  /** Sends calls without the SDK, where that is possible. */
  readonly requests: DirectRequests | undefined
  readonly isResumed: boolean
  readonly #transport: Transport
  readonly #release: (() => Promise<void>) | undefined
  readonly #listeners = new Set<() => void>()
  #isClosed = false
  #hasFixedHints = false

  constructor({ client, transport, agreement, label, relays, clock, isResumed = false, release }: SessionParts) {
    this.client = client
    this.agreement = agreement
    this.label = label
    this.relays = relays
    this.isResumed = isResumed
    this.#transport = transport
    this.#release = release
    const isDirect = agreement.era === 'session' && transport instanceof StdioTransport
    const requests = isDirect ? new DirectRequests(transport, clock, (error) => client.onerror?.(error)) : undefined
    this.requests = requests
    client.onclose = () => this.#handleClose()
    const { onmessage } = transport
    const isStateless = agreement.era === 'stateless'
    // The SDK handles a notification one tick after a response, and drops progress handlers when the response arrives.
    transport.onmessage = (message, extra) => {
      if (requests?.consume(message) === true) return
      if (isStateless) this.#fixCacheHints(message)
      if ('method' in message) onmessage?.(message, extra)
      else queueMicrotask(() => onmessage?.(message, extra))
    }
    if (transport instanceof HttpTransport) transport.onsessionlost = () => this.#handleClose()
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Reason why the session closed, unless this client closed it. */
  get failure(): ClientError | undefined {
    const transport = this.#transport
    return transport instanceof StdioTransport || transport instanceof SseTransport ? transport.failure : undefined
  }

  /** True when a new session with the same server can replace this one: a started process cannot be replaced. */
  get canRenew(): boolean {
    return this.#transport instanceof HttpTransport || this.#transport instanceof SseTransport
  }

  /** True when another session can tell whether the server has changed its protocol revision. */
  get canRenegotiate(): boolean {
    return this.#transport instanceof HttpTransport
  }

  /** True when the server has lost the session, so a refused request can be sent again in a new one. */
  get isSessionLost(): boolean {
    return this.#transport instanceof HttpTransport && this.#transport.isSessionLost
  }

  /** Resolves when no response is outstanding in a lost session. */
  get drained(): Promise<void> {
    return this.#transport instanceof HttpTransport ? this.#transport.drained : Promise.resolve()
  }

  /** State of the stream for notifications of a session-era server. */
  get pushStream(): PushStream {
    return this.#transport instanceof HttpTransport ? this.#transport.pushStream : 'open'
  }

  get sessionId(): string | undefined {
    return this.#transport instanceof HttpTransport ? this.#transport.sessionId : undefined
  }

  /** True when arguments may have to be repeated in `Mcp-Param-*` headers. */
  get needsHeaders(): boolean {
    return this.agreement.era === 'stateless' && this.#transport instanceof HttpTransport
  }

  get pid(): number | undefined {
    return this.#transport instanceof StdioTransport ? this.#transport.process.pid : undefined
  }

  /** Bytes received, if the transport counts them. */
  get received(): number {
    const transport = this.#transport
    const counts = transport instanceof HttpTransport || transport instanceof SseTransport || transport instanceof StdioTransport
    return counts ? transport.received : 0
  }

  /** Calls `listener` each time the notification stream opens: earlier notifications may be lost. */
  onPushOpen(listener: () => void): void {
    if (this.#transport instanceof HttpTransport) this.#transport.onpushopen = listener
  }

  /** Calls `listener` when the notification stream breaks; the transport reopens it. */
  onPushBreak(listener: () => void): void {
    if (this.#transport instanceof HttpTransport) this.#transport.onpushbreak = listener
  }

  onClose(listener: () => void): void {
    if (this.#isClosed) listener()
    else this.#listeners.add(listener)
  }

  /** Sends a request and returns its raw result; throws `ClientError`. */
  async request(method: string, params: Record<string, unknown>, options: RequestOptions & { what: string }): Promise<unknown> {
    const { what, ...rest } = options
    try {
      return await this.client.request({ method, params }, anything, rest)
    } catch (error) {
      // The SDK reports an abort as a timeout.
      if (rest.signal?.aborted === true) throw cancelled(what, error)
      throw this.toClientError(error, what)
    }
  }

  /** Converts an error of this session. If the transport failed, its failure is the cause. */
  toClientError(error: unknown, what: string): ClientError {
    const converted = toClientError(error, { target: this.label, what })
    return converted.reason === 'unreachable' ? (this.failure ?? converted) : converted
  }

  /** Treats the session as lost: it is closed, and requests in progress have little time left. */
  lose(): void {
    if (this.#transport instanceof HttpTransport) this.#transport.loseSession()
  }

  /** Terminates the session on the server. */
  async endSession(): Promise<void> {
    if (this.#transport instanceof HttpTransport && !this.#transport.isSessionLost) await this.#transport.endSession()
  }

  async close(): Promise<void> {
    try {
      await this.client.close()
      // After the connection is lost the SDK no longer knows its transport.
      await this.#transport.close()
    } finally {
      await this.#release?.()
      this.#handleClose()
    }
  }

  #fixCacheHints(message: JSONRPCMessage): void {
    const problem = fixCacheHints(message)
    if (problem === undefined || this.#hasFixedHints) return
    this.#hasFixedHints = true
    this.client.onerror?.(new Error(problem))
  }

  #handleClose(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.requests?.end()
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }
}
