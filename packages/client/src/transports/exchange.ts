import type { JSONRPCRequest } from '@modelcontextprotocol/client'

/** One request over HTTP, from sending it until its response stream is closed. */
export class Exchange {
  readonly request: JSONRPCRequest
  /** Aborted when the request is cancelled, fails, or has its response. */
  readonly signal: AbortSignal
  /** Id of the last event received on the response stream. */
  lastEventId: string | undefined
  /** True if the response is an event stream. */
  isStream = false
  isAnswered = false
  /** Pause that the server requested when it refused the request. */
  retryAfterMs: number | undefined
  readonly #stop = new AbortController()

  constructor(request: JSONRPCRequest, cancelled: AbortSignal | undefined) {
    this.request = request
    this.signal = cancelled === undefined ? this.#stop.signal : AbortSignal.any([cancelled, this.#stop.signal])
  }

  /** Closes the response stream. */
  close(): void {
    this.#stop.abort()
  }
}
