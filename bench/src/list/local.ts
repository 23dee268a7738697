import type { Handler } from '@unfold-mcp/server'
import { initializeOf, type Message } from './wire.ts'

type Reply = Awaited<ReturnType<Handler['handle']>>

/** Passes messages to a handler like its HTTP server does, without a socket. */
export class LocalClient {
  readonly #handler: Handler

  constructor(handler: Handler) {
    this.#handler = handler
  }

  /** Resolves when the response is complete. */
  async send({ path, headers, body }: Message): Promise<Reply> {
    const reply = await this.#handler.handle({
      method: 'POST',
      url: path,
      header: (name) => (name === 'host' ? '127.0.0.1' : headers[name]),
      body: async () => body,
      onDisconnect: () => undefined,
      request: () => new Request(new URL(path, 'http://127.0.0.1'), { method: 'POST', headers }),
    })
    if (reply.status >= 300) throw new Error(`The handler replied with status ${reply.status}.`)
    if (reply instanceof Response) await reply.arrayBuffer()
    return reply
  }

  /** Initializes a session; resolves with its id. */
  async initialize(path: string): Promise<string> {
    const { first, second } = initializeOf(path)
    const { headers } = await this.send(first)
    const session = headers instanceof Headers ? headers.get('mcp-session-id') : headers['mcp-session-id']
    if (typeof session !== 'string') throw new Error('No session was created.')
    await this.send(second(session))
    return session
  }
}
