import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/** Pending requests of an HTTP server, without long-lived streams. */
export class ActiveRequests {
  readonly #open = new Set<ServerResponse>()
  readonly #idleWaiters = new Set<() => void>()

  constructor(server: Server) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (request.method !== 'POST' || request.headers['mcp-method'] === 'subscriptions/listen') return
      this.#open.add(response)
      response.once('close', () => {
        this.#open.delete(response)
        if (this.#open.size > 0) return
        for (const resolve of this.#idleWaiters) resolve()
        this.#idleWaiters.clear()
      })
    })
  }

  /** Resolves when no request is pending. */
  async idle(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#idleWaiters.add(resolve))
  }
}
