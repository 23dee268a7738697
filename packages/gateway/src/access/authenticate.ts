import { isFailure, printable } from '@unfold-mcp/core'
import { type RequestHead, unauthorized } from '@unfold-mcp/server'
import { parseMcpPath } from '../base/mcp-path.ts'
import type { Config, TokenRecord } from '../config/schema.ts'
import { hasClientTokens, verifyToken } from '../config/tokens.ts'
import type { Access, Client } from './access.ts'
import { presentedToken } from './admin-token.ts'
import { type RejectedTokens, throttledMessage } from './rejected-tokens.ts'

// The request target may be a path or an absolute URL.
function pathOf(url: string): string {
  const [path = ''] = url.split(/[?#]/u, 1)
  return path.startsWith('/') || !URL.canParse(path) ? path : new URL(path).pathname
}

export interface AuthenticationOptions {
  readonly config: Config
  readonly access: Access
  /** True when the gateway listens beyond loopback. Then a token is required even if the last one was removed. */
  readonly isPublic: boolean
  readonly rejected: RejectedTokens
}

/** Identifies the client of a request; anonymous where no tokens are configured. A `Response` is a rejection to send as is. */
export function authenticate(
  head: RequestHead,
  { config, access, isPublic, rejected }: AuthenticationOptions,
): Client | Response {
  const presented = presentedToken(head.header('authorization'))
  const record = presented === undefined ? undefined : verifyToken(presented, config.tokens)
  if (record?.role !== undefined) return notForClients(record)
  if ((isPublic || hasClientTokens(config.tokens)) && record === undefined)
    return unauthenticated(rejected.record(head, presented !== undefined))
  try {
    const { profile, server } = parseMcpPath(pathOf(head.url))
    return access.client(record, profile, server)
  } catch (error) {
    if (error instanceof URIError) return failure({ message: 'The name in the URL is not valid percent-encoding.' })
    if (!isFailure(error, 'unknown_profile') && !isFailure(error, 'unknown_server')) throw error
    const { message, reason, details } = error
    return failure({ message, data: { reason, ...details } })
  }
}

function unauthenticated(retryAfterSeconds: number | undefined): Response {
  if (retryAfterSeconds === undefined) return unauthorized()
  const message = throttledMessage(retryAfterSeconds)
  return Response.json(
    { jsonrpc: '2.0', error: { code: -32000, message, data: { reason: 'unauthorized', scheme: 'Bearer' } }, id: null },
    { status: 429, headers: { 'retry-after': String(retryAfterSeconds) } },
  )
}

function notForClients({ name, role }: TokenRecord): Response {
  const message = `"${printable(name)}" is a token with the role ${role}, which MCP clients cannot use. Create a client token with "unfold token add <name>".`
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status: 403 })
}

const failure = (error: { readonly message: string; readonly data?: object }): Response =>
  Response.json({ jsonrpc: '2.0', error: { code: -32602, ...error }, id: null }, { status: 404 })
