import { type JSONRPCMessage, SSEClientTransport, type Transport } from '@modelcontextprotocol/client'
import { ClientError, tooLarge } from '../errors/errors.ts'
import { failureReason, type HttpOptions, isParseError, unreachable } from './http.ts'
import { limitMessages } from './message-limit.ts'
import { PendingRequests } from './pending-requests.ts'

/** Legacy HTTP+SSE transport. When the event stream breaks, the session is lost. */
export class SseTransport implements Transport {
  readonly #inner: SSEClientTransport
  readonly #label: string
  readonly #pending = new PendingRequests()
  #isStarted = false
  #isClosed = false
  #failure: ClientError | undefined
  #received = 0
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  constructor(url: URL, { label, maxMessageBytes, headers, auth, fetch: send = fetch }: HttpOptions) {
    this.#label = label
    this.#inner = new SSEClientTransport(url, {
      requestInit: { headers: { ...headers } },
      ...(auth !== undefined && { authProvider: auth }),
      fetch: async (at, init) =>
        limitMessages(await this.#respond(send(at, init), init?.signal), {
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
      throw error
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#pending.track(message)
    return this.#inner.send(message)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  async #respond(response: Promise<Response>, signal: AbortSignal | null | undefined): Promise<Response> {
    try {
      return await response
    } catch (error) {
      if (signal?.aborted === true) throw error
      throw unreachable(this.#label, error)
    }
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
