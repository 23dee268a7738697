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
import { ClientError, tooLarge, wordsOf } from '../errors/errors.ts'
import { cutShortWords, isCutShort, tlsTrouble } from '../errors/tls.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { limited } from './message-limit.ts'
import { Unanswered } from './pending-requests.ts'

export interface HttpOptions {
  /** What to call the server in messages. */
  readonly label: string
  readonly maxMessageBytes: number
  readonly headers?: Readonly<Record<string, string>>
  readonly auth?: OAuthClientProvider | AuthProvider
  /** Instead of the network. */
  readonly fetch?: FetchLike
  readonly clock?: Clock
  /** A session to go on with. */
  readonly session?: { readonly id: string; readonly protocolVersion: string }
}

/** Whether a session-era server can say something by itself: it can, it cannot, or that is not known yet. */
export type Pushes = 'open' | 'none' | 'unknown'

// Says which request a response belongs to; it is taken off before anything is sent.
const marker = 'unfold-request'
const shortestRetryMs = 100
// A server that forgot the session refuses what it got before as well, each with an answer of its own.
const lastAnswersMs = 500

// What these ask for is the same when it is asked for twice.
const safeMethods = new Set([
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
 * Streamable HTTP in both eras. Adds to the SDK's what a client needs to rely on it: no message is larger than allowed, and
 * whoever waits for an answer is told at once when the connection breaks or the session is gone.
 */
export class HttpTransport implements Transport {
  readonly hasPerRequestStream = true
  readonly #inner: StreamableHTTPClientTransport
  readonly #options: HttpOptions
  readonly #unanswered = new Unanswered()
  /** The requests that are under way: how to give each up, and whether it may be sent twice. */
  readonly #sending = new Map<string, { readonly giveUp: (failure: ClientError) => void; readonly isSafe: boolean }>()
  readonly #retries = new Set<() => void>()
  #pushes: Pushes = 'unknown'
  #isGone = false
  #lastAnswers: Promise<void> = Promise.resolve()
  #received = 0
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Told when the stream for what the server says by itself opens, also when it opens again. */
  onpush?: () => void
  /** Told when a stream broke that will be opened again. */
  onbreak?: () => void
  /** Told when the server has forgotten the session. */
  ongone?: () => void

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
        // Until it is closed: the stream is how a session-era client hears of changes.
        maxRetries: Number.MAX_SAFE_INTEGER,
      },
      reconnectionScheduler: (reconnect, delay) => this.#retry(reconnect, delay),
      ...(auth !== undefined && { authProvider: auth }),
      ...(session !== undefined && { sessionId: session.id, protocolVersion: session.protocolVersion }),
    })
    this.#inner.onclose = () => this.onclose?.()
    this.#inner.onerror = (error) => {
      if (isUnreadable(error)) this.onerror?.(error)
    }
    this.#inner.onmessage = (message) => {
      this.#unanswered.answered(message)
      if (!('method' in message)) this.#sending.delete(JSON.stringify(message.id))
      this.onmessage?.(message)
    }
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId
  }

  get pushes(): Pushes {
    return this.#pushes
  }

  /** Whether the server has forgotten the session. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Resolves when no answer is waited for any more in a session that the server has forgotten. */
  get lastAnswers(): Promise<void> {
    return this.#lastAnswers
  }

  /** How many bytes have come in. */
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
    const mark = JSON.stringify(id)
    const stop = new AbortController()
    this.#unanswered.sent(message)
    requestSignal?.addEventListener('abort', () => this.#sending.delete(mark), { once: true })
    const giveUp = (failure: ClientError): void => {
      this.#refuse(id, failure)
      stop.abort(failure)
    }
    this.#sending.set(mark, { giveUp, isSafe: safeMethods.has(message.method) })
    try {
      await this.#inner.send(message, {
        requestSignal: requestSignal === undefined ? stop.signal : AbortSignal.any([requestSignal, stop.signal]),
        headers: { ...headers, [marker]: mark },
        onRequestStreamEnd: () => {
          this.#sending.delete(mark)
          onRequestStreamEnd?.()
          this.#refuse(id, this.#unreachable('The connection broke before the answer came.'))
        },
      })
    } catch (error) {
      this.#sending.delete(mark)
      throw error
    }
  }

  /** Opens the stream for what the server says by itself, where no handshake has done so. */
  async openPush(): Promise<void> {
    await this.#inner.resumeStream('')
  }

  /** Tells the server that the session is over. */
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
    const mark = headers.get(marker)
    headers.delete(marker)
    const ask = (): Promise<Response> => send(url, { ...init, headers })
    const isSafe = mark !== null && this.#sending.get(mark)?.isSafe === true
    // A connection that was kept from before may have been closed without anybody noticing.
    const response = await ask()
      .catch((error: unknown) => (isSafe && isClosed(error) ? ask() : Promise.reject(error)))
      .catch((error: unknown) => {
        if (init?.signal?.aborted === true) throw error
        throw unreachable(this.#options.label, error)
      })
    this.#notice(response, init?.method, headers)
    return limited(response, {
      limit: maxMessageBytes,
      count: (bytes) => {
        this.#received += bytes
      },
      tooLarge: () => {
        const failure = tooLarge(`A message from ${label}`, maxMessageBytes)
        if (mark !== null) this.#sending.get(mark)?.giveUp(failure)
        return failure
      },
    })
  }

  #notice({ status, ok }: Response, method: string | undefined, headers: Headers): void {
    if (status === 404 && this.sessionId !== undefined && method !== 'DELETE') this.#forgotten()
    if (method !== 'GET') return
    if (ok) {
      this.#pushes = 'open'
      this.onpush?.()
      return
    }
    // With an event to go on from, it was to take up the answer to one request.
    if (!headers.has('last-event-id')) this.#pushes = 'none'
  }

  /** Gives up what is under way, unless it is answered soon: what is refused was not done, so it can be sent again. */
  #forgotten(): void {
    if (this.#isGone) return
    this.#isGone = true
    const { clock = systemClock } = this.#options
    this.#lastAnswers = new Promise((resolve) => {
      clock.after(lastAnswersMs, () => {
        const failure = this.#unreachable('It has forgotten the session; ask again, and a new one begins.')
        for (const { giveUp } of [...this.#sending.values()]) giveUp(failure)
        resolve()
      })
    })
    this.ongone?.()
  }

  #retry(reconnect: () => void, delay: number): () => void {
    const { clock = systemClock } = this.#options
    // A stream broke; until it is there again nothing is heard.
    this.#pushes = 'unknown'
    const off = clock.after(Math.max(delay, shortestRetryMs), () => {
      this.#retries.delete(off)
      if (!this.#isGone) reconnect()
    })
    this.#retries.add(off)
    this.onbreak?.()
    return off
  }

  #refuse(id: RequestId, failure: ClientError): void {
    const message = this.#unanswered.failed(id, failure)
    if (message !== undefined) this.onmessage?.(message)
  }

  #unreachable(why: string): ClientError<'unreachable'> {
    const { label: target } = this.#options
    return new ClientError('unreachable', `${target} cannot be reached. ${why}`, { target })
  }
}

/** Why a request did not get through: what `fetch` knows of it is mostly in the cause. */
export function reasonOf(error: unknown): string {
  const inner = innerOf(error)
  if (inner === undefined) return wordsOf(error)
  const trouble = tlsTrouble(inner)
  if (trouble !== undefined) return trouble.words
  if (isCutShort(inner)) return cutShortWords
  return inner.message === '' && 'code' in inner ? wordsOf(inner.code) : wordsOf(inner)
}

/** The failure for a request that did not get through. */
export function unreachable(target: string, error: unknown): ClientError<'unreachable'> {
  const inner = innerOf(error)
  const tls = inner === undefined ? undefined : tlsTrouble(inner)?.code
  const details = { target, ...(tls !== undefined && { tls }) }
  return new ClientError('unreachable', `${target} cannot be reached. ${reasonOf(error)}.`, details, { cause: error })
}

function innerOf(error: unknown): Error | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  const inner: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return inner instanceof Error ? inner : undefined
}

/** Whether an error is about a message that could not be read. All others reach whoever waits, or are mended by trying again. */
export const isUnreadable = ({ name }: Error): boolean => name === 'SyntaxError' || name.includes('ZodError')

function isClosed(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && (cause.code === 'UND_ERR_SOCKET' || cause.code === 'ECONNRESET')
}
