import { headerParameters, headerProblem, isRecord } from '@unfold-mcp/core'
import { createHandler, type Exchange, type Handler } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Administrator } from './authorization.ts'
import { parseBody } from './body.ts'
import { refusal, withSecurityHeaders } from './reply.ts'

const mcpHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
}

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

  /** Handles a `tools/call` request. The headers that repeat parts of the body are added here. */
  async handle(request: Request, exchange: Exchange, from: Administrator): Promise<Response> {
    const { bodyBytes } = this.#gateway.config.limits
    const bytes = await exchange.body(bodyBytes)
    if (bytes === undefined) return refusal(413, `The body exceeds ${bodyBytes} bytes. Send less.`)
    const { method, params } = parseBody(bytes)
    if (method !== 'tools/call' || !isRecord(params) || typeof params.name !== 'string')
      return refusal(400, 'The body must be a tools/call request of MCP 2026-07-28. Other clients use /mcp.')
    const call = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { ...mcpHeaders, 'mcp-name': headerText(params.name), ...this.#parameterHeaders(params.name, params.arguments) },
      body: Buffer.from(bytes),
      signal: request.signal,
    })
    this.#principals.set(call, this.#principalOf(from))
    return withSecurityHeaders(await this.#open().fetch(call))
  }

  #parameterHeaders(name: string, args: unknown): { readonly [header: string]: string } {
    const entry = this.#gateway.source.entries().find(({ tool }) => tool.name === name)
    if (entry === undefined || headerProblem(entry.tool.inputSchema) !== undefined) return {}
    return Object.fromEntries(
      headerParameters(name, entry.tool.inputSchema).flatMap(({ path, header }) => {
        const value = path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), args)
        return ['string', 'number', 'boolean'].includes(typeof value) ? [[`mcp-param-${header}`, headerText(String(value))]] : []
      }),
    )
  }

  async close(): Promise<void> {
    await this.#handler?.close()
  }

  /**
   * The same object for the same person, because the library compares principals. Without escaping, a name with a slash could be the
   * id of another token with a profile.
   */
  #principalOf({ token }: Administrator): Client {
    const id = token === undefined ? ownerId : `token:${token.replaceAll(/[%/]/gu, encodeURIComponent)}`
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

/** A header value; what is not plain ASCII is encoded as MCP does. */
const headerText = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/u.test(text) && !text.startsWith('=?base64?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`
