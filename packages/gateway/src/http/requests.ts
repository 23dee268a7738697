import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/** The requests of a server that are being answered, without those that listen for as long as they can. */
export class Requests {
  readonly #open = new Set<ServerResponse>()
  readonly #waiting = new Set<() => void>()

  constructor(server: Server) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (request.method !== 'POST' || request.headers['mcp-method'] === 'subscriptions/listen') return
      this.#open.add(response)
      response.once('close', () => {
        this.#open.delete(response)
        if (this.#open.size > 0) return
        for (const go of this.#waiting) go()
        this.#waiting.clear()
      })
    })
  }

  /** Done when none is left. */
  async answered(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }
}
