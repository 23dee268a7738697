import type { IncomingMessage } from 'node:http'
import { addressOf, type SlowClientOptions } from './slow-client.ts'

const minTotalBytes = 64 * 1024 * 1024
// Enough for a few clients that send the largest allowed body at the same time.
const bodiesOfMaxSize = 16

interface RequestBody {
  readonly request: IncomingMessage
  bytes: number
}

/** Unfinished request bodies. While they exceed their limit, the client that started first is disconnected. */
export class RequestBodies {
  readonly #onSlowClient: SlowClientOptions['onSlowClient']
  /** In the order in which they started. */
  readonly #open = new Set<RequestBody>()
  #bytes = 0

  constructor({ onSlowClient }: SlowClientOptions) {
    this.#onSlowClient = onSlowClient
  }

  /** Counts the body of a request; `maxBytes` is the limit of a single body. */
  open(request: IncomingMessage, maxBytes: number): { add(bytes: number): void; close(): void } {
    const body: RequestBody = { request, bytes: 0 }
    const limit = Math.max(minTotalBytes, bodiesOfMaxSize * maxBytes)
    this.#open.add(body)
    return {
      add: (bytes) => {
        if (!this.#open.has(body)) return
        body.bytes += bytes
        this.#bytes += bytes
        this.#disconnectOldest(limit)
      },
      close: () => this.#close(body),
    }
  }

  #disconnectOldest(limit: number): void {
    for (const body of this.#open) {
      if (this.#bytes <= limit) return
      const { request, bytes } = body
      this.#close(body)
      this.#onSlowClient?.({ reason: 'upload', bytes, address: addressOf(request) })
      request.destroy()
    }
  }

  #close(body: RequestBody): void {
    if (this.#open.delete(body)) this.#bytes -= body.bytes
  }
}
