import { type JSONRPCMessage, SSEClientTransport, type Transport } from '@modelcontextprotocol/client'
import { ClientError, tooLarge } from '../errors/errors.ts'
import { type HttpOptions, isUnreadable, reasonOf, unreachable } from './http.ts'
import { limited } from './message-limit.ts'

/** HTTP with a stream of events beside it, as it was before Streamable HTTP. When the stream breaks, the session is over. */
export class SseTransport implements Transport {
  readonly #inner: SSEClientTransport
  readonly #label: string
  #isStarted = false
  #isOver = false
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
        limited(await this.#sent(send(at, init), init?.signal), {
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
    this.#inner.onmessage = (message) => this.onmessage?.(message)
    this.#inner.onclose = () => this.#over()
    this.#inner.onerror = (error) => {
      if (isUnreadable(error)) this.onerror?.(error)
      // The SDK opens the stream again; but to the server that is another session, which nobody has initialised.
      if (this.#isStarted && 'event' in error) this.#broken(error)
    }
  }

  get received(): number {
    return this.#received
  }

  /** Why it is over, if it is and nobody asked for it. */
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
      // It would go on trying.
      await this.close()
      throw error
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#inner.send(message)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  async #sent(response: Promise<Response>, signal: AbortSignal | null | undefined): Promise<Response> {
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
      `The connection to ${target} broke (${reasonOf(cause)}). Connect again.`,
      { target },
      { cause },
    )
    void this.close()
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.onclose?.()
  }
}
