import { isFailure } from '@unfold-mcp/core'
import { type RequestHead, unauthorized } from '@unfold-mcp/server'
import { parseMcpPath } from '../base/mcp-path.ts'
import type { Config } from '../config/schema.ts'
import { verifyToken } from '../config/tokens.ts'
import type { Access, Client } from './access.ts'
import { presentedToken } from './admin-token.ts'

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
}

/** Identifies the client of a request; anonymous where no tokens are configured. A `Response` is a rejection to send as is. */
export function authenticate(head: RequestHead, { config, access, isPublic }: AuthenticationOptions): Client | Response {
  const presented = presentedToken(head.header('authorization'))
  const record = presented === undefined ? undefined : verifyToken(presented, config.tokens)
  if ((isPublic || config.tokens.length > 0) && record === undefined) return unauthorized()
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

const failure = (error: { readonly message: string; readonly data?: object }): Response =>
  Response.json({ jsonrpc: '2.0', error: { code: -32602, ...error }, id: null }, { status: 404 })
