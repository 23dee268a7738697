import {
  type AuthProvider,
  type FetchLike,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type OAuthClientProvider,
  type RequestId,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import { discovery } from '@unfold-mcp/core'
import { httpFailure } from '../errors/conversion.ts'
import { ClientError, tooLarge } from '../errors/errors.ts'
import { isConnectionReset, unreachable } from '../errors/unreachable.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { AnsweredStreams } from './answered-streams.ts'
import { Exchange } from './exchange.ts'
import { isEventStream, limitMessages } from './message-limit.ts'
import { NotificationStream, type PushStream, retryMs } from './notification-stream.ts'
import { PendingRequests } from './pending-requests.ts'
import { ResponseStream, type Resumed } from './response-stream.ts'
import { requestResumption } from './resumption.ts'
import { retryAfterMs } from './retry-after.ts'

export interface HttpOptions {
  /** Name of the server in messages. */
  readonly label: string
  readonly maxMessageBytes: number
  readonly headers?: Readonly<Record<string, string>>
  readonly auth?: OAuthClientProvider | AuthProvider
  /** Replaces the global `fetch`. */
  readonly fetch?: FetchLike
  readonly clock?: Clock
  /** Session to resume. */
  readonly session?: { readonly id: string; readonly protocolVersion: string }
}

// Header that assigns a response to its request; removed before sending.
const requestHeader = 'unfold-request'
// A server that lost the session still responds to earlier requests.
const drainMs = 500
// A notification has no timeout of its own, and a server may never acknowledge it.
const noticeTimeoutMs = 30_000

// Idempotent, so they can be retried.
const idempotentMethods = new Set([
  'initialize',
  'ping',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'server/discover',
  'tools/list',
  ...Object.values(discovery.methods),
])

/**
 * Streamable HTTP in both eras. Adds to the SDK: a message size limit, immediate failure of pending requests when the connection
 * breaks or the session is lost, and an end for every response stream: after the response, or with the request.
 */
export class HttpTransport implements Transport {
  readonly hasPerRequestStream = true
  readonly #inner: StreamableHTTPClientTransport
  readonly #options: HttpOptions
  readonly #clock: Clock
  readonly #pending = new PendingRequests()
  /** Requests in progress. */
  readonly #exchanges = new Map<string, Exchange>()
  readonly #answered: AnsweredStreams
  readonly #notifications: NotificationStream
  #isSessionLost = false
  #drained: Promise<void> = Promise.resolve()
  #received = 0
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Called each time the notification stream opens. */
  onpushopen?: () => void
  /** Called when a stream breaks; it will be reopened. */
  onpushbreak?: () => void
  /** Called when the server has lost the session. */
  onsessionlost?: () => void

  constructor(url: URL, options: HttpOptions) {
    this.#options = options
    const { headers, auth, session, clock = systemClock } = options
    this.#clock = clock
    this.#answered = new AnsweredStreams(clock)
    this.#notifications = new NotificationStream(clock)
    this.#inner = new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { ...headers } },
      fetch: this.#fetch,
      reconnectionOptions: {
        initialReconnectionDelay: retryMs.first,
        maxReconnectionDelay: retryMs.max,
        reconnectionDelayGrowFactor: 2,
        // Session-era notifications depend on the stream.
        maxRetries: Number.MAX_SAFE_INTEGER,
      },
      reconnectionScheduler: (reconnect, delay) => this.#reopen(reconnect, delay),
      ...(auth !== undefined && { authProvider: auth }),
      ...(session !== undefined && { sessionId: session.id, protocolVersion: session.protocolVersion }),
    })
    this.#inner.onclose = () => this.onclose?.()
    this.#inner.onerror = (error) => {
      if (isParseError(error)) this.onerror?.(error)
    }
    this.#inner.onmessage = (message) => {
      if (!('method' in message)) this.#settle(String(message.id))
      if (this.#pending.receive(message)) this.onmessage?.(message)
    }
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  get pushStream(): PushStream {
    return this.#notifications.state
  }

  /** True when the server has lost the session. */
  get isSessionLost(): boolean {
    return this.#isSessionLost
  }

  /** Resolves when no response is outstanding in a lost session. */
  get drained(): Promise<void> {
    return this.#drained
  }

  /** Bytes received. */
  get received(): number {
    return this.#received
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version)
  }

  start(): Promise<void> {
    return this.#inner.start()
  }

  async send(message: JSONRPCMessage, { requestSignal, headers, onRequestStreamEnd }: TransportSendOptions = {}): Promise<void> {
    if (!isRequest(message)) return this.#notify(message)
    const key = String(message.id)
    const exchange = new Exchange(message, requestSignal)
    this.#pending.track(message)
    this.#exchanges.set(key, exchange)
    requestSignal?.addEventListener('abort', () => this.#callOff(key), { once: true })
    try {
      await this.#inner.send(message, {
        requestSignal: exchange.signal,
        headers: { ...headers, [requestHeader]: key },
        onresumptiontoken: (token) => {
          exchange.lastEventId = token
        },
        onRequestStreamEnd: () => {
          onRequestStreamEnd?.()
          if (exchange.isAnswered) this.#answered.delete(exchange)
          else this.#giveUp(exchange, this.#unreachable('the connection broke before the response'))
        },
      })
    } catch (error) {
      this.#exchanges.delete(key)
      this.#pending.end(message.id)
      throw this.#withPause(error, exchange)
    }
  }

  /** Opens the notification stream of a resumed session. */
  async openPushStream(): Promise<void> {
    await this.#inner.resumeStream('')
  }

  async endSession(): Promise<void> {
    await this.#inner.terminateSession()
  }

  /** Treats the session as lost. Requests in progress fail if they get no response soon. */
  loseSession(): void {
    if (this.#isSessionLost) return
    this.#isSessionLost = true
    this.#drained = new Promise((resolve) => {
      this.#clock.after(drainMs, () => {
        const failure = this.#unreachable('the session was lost; retry to start a new one')
        for (const exchange of [...this.#exchanges.values()]) this.#giveUp(exchange, failure)
        resolve()
      })
    })
    this.onsessionlost?.()
  }

  async close(): Promise<void> {
    this.#notifications.close()
    this.#answered.close()
    await this.#inner.close()
  }

  /** Sends a notification or a response. */
  async #notify(message: JSONRPCMessage): Promise<void> {
    if ('method' in message && message.method === 'notifications/cancelled') {
      this.#callOff(String(message.params?.requestId))
      this.#pending.track(message)
    }
    const late = new AbortController()
    const off = this.#clock.after(noticeTimeoutMs, () => late.abort(), true)
    try {
      await this.#inner.send(message, { requestSignal: late.signal })
    } catch (error) {
      throw late.signal.aborted ? this.#unreachable(`no response within ${noticeTimeoutMs / 1_000} s`) : error
    } finally {
      off()
    }
  }

  readonly #fetch: FetchLike = async (url, init) => {
    const { fetch: send = fetch, maxMessageBytes, label } = this.#options
    const headers = new Headers(init?.headers)
    const key = headers.get(requestHeader)
    headers.delete(requestHeader)
    const request = (): Promise<Response> => send(url, { ...init, headers })
    const exchange = key === null ? undefined : this.#exchanges.get(key)
    const isIdempotent = exchange !== undefined && idempotentMethods.has(exchange.request.method)
    // The server may have closed several keep-alive connections, and each attempt finds out about one.
    const again = async (error: unknown): Promise<Response> => {
      if (isIdempotent && isConnectionReset(error)) return request()
      throw error
    }
    const response = await request()
      .catch(again)
      .catch(again)
      .catch((error: unknown) => {
        if (init?.signal?.aborted === true) throw error
        throw unreachable(this.#options.label, error)
      })
    this.#handleStatus(response, init?.method)
    const limits = {
      limit: maxMessageBytes,
      count: (bytes: number) => {
        this.#received += bytes
      },
      tooLarge: () => {
        const failure = tooLarge(`A message from ${label}`, maxMessageBytes)
        if (exchange !== undefined) this.#giveUp(exchange, failure)
        return failure
      },
    }
    if (exchange === undefined) return limitMessages(response, limits)
    if (!response.ok) exchange.retryAfterMs = retryAfterMs(response, this.#clock.wallTime())
    if (!response.ok || !isEventStream(response)) return limitMessages(response, limits)
    exchange.isStream = true
    // Requests of 2026-07-28 name their method in a header; their streams cannot be resumed.
    const canResume = !headers.has('mcp-method')
    return limitMessages(response, limits, (body) => {
      const resume = (lastEventId: string): Promise<Resumed> => this.#resume(url, { ...init, headers }, lastEventId)
      return new ResponseStream(body, {
        exchange,
        clock: this.#clock,
        resume: canResume ? resume : undefined,
        giveUp: (reason) => this.#giveUp(exchange, this.#unreachable(reason)),
      })
    })
  }

  #resume(url: string | URL, init: RequestInit, lastEventId: string): Promise<Resumed> {
    const { fetch: send = fetch, auth } = this.#options
    return requestResumption(url, init, lastEventId, {
      send,
      auth,
      now: () => this.#clock.wallTime(),
      notFound: () => {
        if (this.sessionId !== undefined) this.loseSession()
      },
    })
  }

  #handleStatus(response: Response, method: string | undefined): void {
    // A refused request was not run, so it can be sent again.
    if (response.status === 404 && this.sessionId !== undefined && method !== 'DELETE') this.loseSession()
    if (method === 'GET' && this.#notifications.receive(response)) this.onpushopen?.()
  }

  /** Opens the notification stream again later. */
  #reopen(reconnect: () => void, delay: number): () => void {
    const open = (): void => {
      if (!this.#isSessionLost) reconnect()
    }
    const off = this.#notifications.reopen(open, delay)
    this.onpushbreak?.()
    return off
  }

  /** The response has arrived. */
  #settle(key: string): void {
    const exchange = this.#exchanges.get(key)
    if (exchange === undefined) return
    this.#exchanges.delete(key)
    exchange.isAnswered = true
    if (exchange.isStream) this.#answered.add(exchange)
  }

  /** The request has been cancelled or has timed out. */
  #callOff(key: string): void {
    const exchange = this.#exchanges.get(key)
    if (exchange === undefined) return
    this.#exchanges.delete(key)
    this.#pending.end(exchange.request.id)
    exchange.close()
  }

  /** Fails a request, unless it has its response, and closes its stream. */
  #giveUp(exchange: Exchange, failure: ClientError): void {
    const { id } = exchange.request
    this.#exchanges.delete(String(id))
    this.#failRequest(id, failure)
    exchange.close()
  }

  #failRequest(id: RequestId, failure: ClientError): void {
    const message = this.#pending.failureResponse(id, failure)
    if (message !== undefined) this.onmessage?.(message)
  }

  /** Adds the pause that the server requested to the error. */
  #withPause(error: unknown, { request, retryAfterMs: ms }: Exchange): unknown {
    if (ms === undefined || !(error instanceof SdkHttpError)) return error
    return httpFailure(error, { target: this.#options.label, what: request.method, retryAfterMs: ms })
  }

  #unreachable(reason: string): ClientError<'unreachable'> {
    const { label: target } = this.#options
    return new ClientError('unreachable', `${target} is unreachable: ${reason}.`, { target })
  }
}

const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest => 'method' in message && 'id' in message

/** True for a message that could not be parsed. Other errors reach the caller or are retried. */
export const isParseError = ({ name }: Error): boolean => name === 'SyntaxError' || name.includes('ZodError')
