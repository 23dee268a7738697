import {
  type AuthProvider,
  type FetchLike,
  type JSONRPCMessage,
  type OAuthClientProvider,
  type RequestId,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client'
import { discovery } from '@unfold-mcp/core'
import { ClientError, errorMessage, tooLarge } from '../errors/errors.ts'
import { closedBeforeTls, isClosedBeforeTls, tlsProblem } from '../errors/tls.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { limitMessages } from './message-limit.ts'
import { PendingRequests } from './pending-requests.ts'

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

/** State of the notification stream of a session-era server. */
export type PushStream = 'open' | 'none' | 'unknown'

// Header that assigns a response to its request; removed before sending.
const requestHeader = 'unfold-request'
const minRetryMs = 100
// A server that lost the session still responds to earlier requests.
const drainMs = 500

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
 * Streamable HTTP in both eras. Adds to the SDK: a message size limit, and immediate failure of pending requests when the connection
 * breaks or the session is lost.
 */
export class HttpTransport implements Transport {
  readonly hasPerRequestStream = true
  readonly #inner: StreamableHTTPClientTransport
  readonly #options: HttpOptions
  readonly #pending = new PendingRequests()
  /** Requests in progress. */
  readonly #sending = new Map<string, { readonly giveUp: (failure: ClientError) => void; readonly isIdempotent: boolean }>()
  readonly #retries = new Set<() => void>()
  #pushStream: PushStream = 'unknown'
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
    const { headers, auth, session } = options
    this.#inner = new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { ...headers } },
      fetch: this.#fetch,
      reconnectionOptions: {
        initialReconnectionDelay: 250,
        maxReconnectionDelay: 5_000,
        reconnectionDelayGrowFactor: 2,
        // Session-era notifications depend on the stream.
        maxRetries: Number.MAX_SAFE_INTEGER,
      },
      reconnectionScheduler: (reconnect, delay) => this.#retry(reconnect, delay),
      ...(auth !== undefined && { authProvider: auth }),
      ...(session !== undefined && { sessionId: session.id, protocolVersion: session.protocolVersion }),
    })
    this.#inner.onclose = () => this.onclose?.()
    this.#inner.onerror = (error) => {
      if (isParseError(error)) this.onerror?.(error)
    }
    this.#inner.onmessage = (message) => {
      this.#pending.settle(message)
      if (!('method' in message)) this.#sending.delete(JSON.stringify(message.id))
      this.onmessage?.(message)
    }
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  get pushStream(): PushStream {
    return this.#pushStream
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

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const { requestSignal, headers, onRequestStreamEnd } = options
    if (!('method' in message) || !('id' in message)) return this.#inner.send(message)
    const { id } = message
    const key = JSON.stringify(id)
    const stop = new AbortController()
    this.#pending.track(message)
    requestSignal?.addEventListener('abort', () => this.#sending.delete(key), { once: true })
    const giveUp = (failure: ClientError): void => {
      this.#failRequest(id, failure)
      stop.abort(failure)
    }
    this.#sending.set(key, { giveUp, isIdempotent: idempotentMethods.has(message.method) })
    try {
      await this.#inner.send(message, {
        requestSignal: requestSignal === undefined ? stop.signal : AbortSignal.any([requestSignal, stop.signal]),
        headers: { ...headers, [requestHeader]: key },
        onRequestStreamEnd: () => {
          this.#sending.delete(key)
          onRequestStreamEnd?.()
          this.#failRequest(id, this.#unreachable('the connection broke before the response'))
        },
      })
    } catch (error) {
      this.#sending.delete(key)
      throw error
    }
  }

  /** Opens the notification stream of a resumed session. */
  async openPushStream(): Promise<void> {
    await this.#inner.resumeStream('')
  }

  async endSession(): Promise<void> {
    await this.#inner.terminateSession()
  }

  async close(): Promise<void> {
    for (const cancel of this.#retries) cancel()
    this.#retries.clear()
    await this.#inner.close()
  }

  readonly #fetch: FetchLike = async (url, init) => {
    const { fetch: send = fetch, maxMessageBytes, label } = this.#options
    const headers = new Headers(init?.headers)
    const key = headers.get(requestHeader)
    headers.delete(requestHeader)
    const request = (): Promise<Response> => send(url, { ...init, headers })
    const isIdempotent = key !== null && this.#sending.get(key)?.isIdempotent === true
    // A keep-alive connection may have been closed by the server.
    const response = await request()
      .catch((error: unknown) => (isIdempotent && isConnectionReset(error) ? request() : Promise.reject(error)))
      .catch((error: unknown) => {
        if (init?.signal?.aborted === true) throw error
        throw unreachable(this.#options.label, error)
      })
    this.#handleStatus(response, init?.method, headers)
    return limitMessages(response, {
      limit: maxMessageBytes,
      count: (bytes) => {
        this.#received += bytes
      },
      tooLarge: () => {
        const failure = tooLarge(`A message from ${label}`, maxMessageBytes)
        if (key !== null) this.#sending.get(key)?.giveUp(failure)
        return failure
      },
    })
  }

  #handleStatus({ status, ok }: Response, method: string | undefined, headers: Headers): void {
    if (status === 404 && this.sessionId !== undefined && method !== 'DELETE') this.#handleSessionLoss()
    if (method !== 'GET') return
    if (ok) {
      this.#pushStream = 'open'
      this.onpushopen?.()
      return
    }
    // With an event id, the stream was for the response to one request.
    if (!headers.has('last-event-id')) this.#pushStream = 'none'
  }

  /** Fails requests in progress that get no response soon. A refused request was not run, so it can be sent again. */
  #handleSessionLoss(): void {
    if (this.#isSessionLost) return
    this.#isSessionLost = true
    const { clock = systemClock } = this.#options
    this.#drained = new Promise((resolve) => {
      clock.after(drainMs, () => {
        const failure = this.#unreachable('the session was lost; retry to start a new one')
        for (const { giveUp } of [...this.#sending.values()]) giveUp(failure)
        resolve()
      })
    })
    this.onsessionlost?.()
  }

  #retry(reconnect: () => void, delay: number): () => void {
    const { clock = systemClock } = this.#options
    // No notifications arrive until the stream is open again.
    this.#pushStream = 'unknown'
    const off = clock.after(Math.max(delay, minRetryMs), () => {
      this.#retries.delete(off)
      if (!this.#isSessionLost) reconnect()
    })
    this.#retries.add(off)
    this.onpushbreak?.()
    return off
  }

  #failRequest(id: RequestId, failure: ClientError): void {
    const message = this.#pending.failureResponse(id, failure)
    if (message !== undefined) this.onmessage?.(message)
  }

  #unreachable(reason: string): ClientError<'unreachable'> {
    const { label: target } = this.#options
    return new ClientError('unreachable', `${target} is unreachable: ${reason}.`, { target })
  }
}

/** Returns why a request failed; `fetch` hides the reason in the cause. */
export function failureReason(error: unknown): string {
  const inner = innerError(error)
  if (inner === undefined) return errorMessage(error)
  const tls = tlsProblem(inner)
  if (tls !== undefined) return tls.message
  if (isClosedBeforeTls(inner)) return closedBeforeTls
  return inner.message === '' && 'code' in inner ? errorMessage(inner.code) : errorMessage(inner)
}

export function unreachable(target: string, error: unknown): ClientError<'unreachable'> {
  const inner = innerError(error)
  const tls = inner === undefined ? undefined : tlsProblem(inner)?.code
  const details = { target, ...(tls !== undefined && { tls }) }
  return new ClientError('unreachable', `${target} is unreachable: ${failureReason(error)}.`, details, { cause: error })
}

function innerError(error: unknown): Error | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  const inner: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return inner instanceof Error ? inner : undefined
}

/** True for a message that could not be parsed. Other errors reach the caller or are retried. */
export const isParseError = ({ name }: Error): boolean => name === 'SyntaxError' || name.includes('ZodError')

function isConnectionReset(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && (cause.code === 'UND_ERR_SOCKET' || cause.code === 'ECONNRESET')
}
