import { isFailure } from '@unfold-mcp/core'
import { type RequestHead, unauthorized } from '@unfold-mcp/server'
import { parseMcpPath } from '../base/mcp-path.ts'
import type { Config } from '../config/schema.ts'
import { verifyToken } from '../config/tokens.ts'
import type { Access, Client } from './access.ts'
import { presentedToken } from './admin-token.ts'

/** The path of an address, whole or not. */
function pathOf(url: string): string {
  const [path = ''] = url.split(/[?#]/u, 1)
  return path.startsWith('/') || !URL.canParse(path) ? path : new URL(path).pathname
}

export interface AuthenticationOptions {
  readonly config: Config
  readonly access: Access
  /** Whether others than programs of this machine can ask. Then a token is needed even when the last one was taken away. */
  readonly isPublic: boolean
}

/** Who asks: whoever holds a token of the configuration; anybody where there is none. A refusal is an answer to send as it is. */
export function authenticate(head: RequestHead, { config, access, isPublic }: AuthenticationOptions): Client | Response {
  const presented = presentedToken(head.header('authorization'))
  const record = presented === undefined ? undefined : verifyToken(presented, config.tokens)
  if ((isPublic || config.tokens.length > 0) && record === undefined) return unauthorized()
  try {
    const { profile, server } = parseMcpPath(pathOf(head.url))
    return access.client(record, profile, server)
  } catch (error) {
    if (error instanceof URIError)
      return failure({ message: 'The name in the address cannot be read. Encode it as in any address.' })
    if (!isFailure(error, 'unknown_profile') && !isFailure(error, 'unknown_server')) throw error
    const { message, reason, details } = error
    return failure({ message, data: { reason, ...details } })
  }
}

const failure = (error: { readonly message: string; readonly data?: object }): Response =>
  Response.json({ jsonrpc: '2.0', error: { code: -32602, ...error }, id: null }, { status: 404 })
