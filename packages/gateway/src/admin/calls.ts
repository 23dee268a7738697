import { isRecord } from '@unfold-mcp/core'
import { createHandler, type Exchange, type Handler } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Administrator } from './authorization.ts'
import { parseBody } from './body.ts'
import { refusal, withSecurityHeaders } from './reply.ts'

const passedHeaders = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

/**
 * Tool calls of administrators, as MCP requests of 2026-07-28: progress, cancellation and elicitation need no second protocol, and a
 * call passes the same checks and records as that of any other client.
 */
export class AdminCalls {
  readonly #gateway: Gateway
  readonly #principals = new WeakMap<Request, Client>()
  readonly #byId = new Map<string, Client>()
  #handler: Handler | undefined

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  async handle(request: Request, exchange: Exchange, from: Administrator): Promise<Response> {
    if (exchange.header('mcp-method') !== 'tools/call')
      return refusal(400, 'Only tools/call of MCP 2026-07-28 is served here, with the header Mcp-Method. Other clients use /mcp.')
    const body = await exchange.body(this.#gateway.config.limits.bodyBytes)
    if (body === undefined) return refusal(413, `The body exceeds ${this.#gateway.config.limits.bodyBytes} bytes. Send less.`)
    if (!isRecord(parseBody(body).params)) return refusal(400, 'The body must be a JSON-RPC request with params.')
    const headers = new Headers({ accept: 'application/json, text/event-stream' })
    for (const name of passedHeaders) headers.set(name, exchange.header(name) ?? '')
    const call = new Request('http://localhost/mcp', { method: 'POST', headers, body: Buffer.from(body), signal: request.signal })
    this.#principals.set(call, this.#principalOf(from))
    return withSecurityHeaders(await this.#open().fetch(call))
  }

  async close(): Promise<void> {
    await this.#handler?.close()
  }

  /** The same object for the same person, because the library compares principals. */
  #principalOf({ token }: Administrator): Client {
    const id = token === undefined ? ownerId : `token:${token}`
    const principal = this.#byId.get(id) ?? { id, ...(token !== undefined && { token }) }
    this.#byId.set(id, principal)
    return principal
  }

  #open(): Handler {
    this.#handler ??= createHandler<Client>(this.#gateway.toolbox, {
      authenticate: (request) => this.#principals.get(request),
      shareKey: (_head, principal) => principal?.id,
      maxBodyBytes: this.#gateway.config.limits.bodyBytes,
      sessions: { max: 1 },
    })
    return this.#handler
  }
}

/** Principal of the user who runs the gateway. */
const ownerId = 'admin'
