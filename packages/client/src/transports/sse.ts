import { type JSONRPCMessage, SSEClientTransport, type Transport } from '@modelcontextprotocol/client'
import { ClientError, pauseRequested, tooLarge } from '../errors/errors.ts'
import { failureReason, unreachable } from '../errors/unreachable.ts'
import { systemClock } from '../time/clock.ts'
import { type HttpOptions, isParseError } from './http.ts'
import { limitMessages } from './message-limit.ts'
import { PendingRequests } from './pending-requests.ts'
import { retryAfterMs } from './retry-after.ts'

/** Legacy HTTP+SSE transport. When the event stream breaks, the session is lost. */
export class SseTransport implements Transport {
  readonly #inner: SSEClientTransport
  readonly #label: string
  readonly #pending = new PendingRequests()
  #isStarted = false
  #isClosed = false
  #failure: ClientError | undefined
  /** The server requested a pause; the SDK does not pass on the error. */
  #refusal: ClientError | undefined
  #received = 0
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  constructor(url: URL, { label, maxMessageBytes, headers, auth, fetch: send = fetch, clock = systemClock }: HttpOptions) {
    this.#label = label
    this.#inner = new SSEClientTransport(url, {
      requestInit: { headers: { ...headers } },
      ...(auth !== undefined && { authProvider: auth }),
      fetch: async (at, init) =>
        limitMessages(await this.#respond(send(at, init), init?.signal, clock.wallTime()), {
          limit: maxMessageBytes,
          count: (bytes) => {
            this.#received += bytes
          },
          tooLarge: () => {
            this.#failure = tooLarge(`A message from ${label}`, maxMessageBytes)
            return this.#failure
          },
        }),
    })
    this.#inner.onmessage = (message) => {
      if (this.#pending.receive(message)) this.onmessage?.(message)
    }
    this.#inner.onclose = () => this.#handleClose()
    this.#inner.onerror = (error) => {
      if (isParseError(error)) this.onerror?.(error)
      // The SDK reopens the stream, but for the server that is a new, uninitialized session.
      if (this.#isStarted && 'event' in error) this.#broken(error)
    }
  }

  get received(): number {
    return this.#received
  }

  /** Reason why the stream closed, unless this client closed it. */
  get failure(): ClientError | undefined {
    return this.#failure
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version)
  }

  async start(): Promise<void> {
    try {
      await this.#inner.start()
      this.#isStarted = true
    } catch (error) {
      // The SDK would keep retrying.
      await this.close()
      throw this.#refusal ?? error
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#pending.track(message)
    try {
      await this.#inner.send(message)
    } catch (error) {
      if ('id' in message) this.#pending.end(message.id)
      throw error
    }
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  async #respond(sent: Promise<Response>, signal: AbortSignal | null | undefined, wallTime: number): Promise<Response> {
    let response: Response
    try {
      response = await sent
    } catch (error) {
      if (signal?.aborted === true) throw error
      throw unreachable(this.#label, error)
    }
    const pauseMs = retryAfterMs(response, wallTime)
    if (pauseMs === undefined) return response
    await response.body?.cancel().catch(() => undefined)
    this.#refusal = pauseRequested(this.#label, response.status, pauseMs)
    throw this.#refusal
  }

  #broken(cause: Error): void {
    const target = this.#label
    this.#failure ??= new ClientError(
      'unreachable',
      `The connection to ${target} broke (${failureReason(cause)}). Connect again.`,
      { target },
      { cause },
    )
    void this.close()
  }

  #handleClose(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.onclose?.()
  }
}
