import { isFailure } from '@unfold-mcp/core'
import { unauthorized } from '@unfold-mcp/server'
import type { Access, Client } from '../access.ts'
import type { Config } from '../config/schema.ts'
import { verifyToken } from '../config/tokens.ts'

/** Where MCP clients connect; a profile may follow. */
export const mcpPath = '/mcp'

/** The profile that an address names: `/mcp/<profile>`. */
export function profileOf(pathname: string): string | undefined {
  const rest = pathname.slice(mcpPath.length + 1)
  return rest === '' ? undefined : decodeURIComponent(rest)
}

/** Who asks: whoever holds a token of the configuration; anybody where there is none. A refusal is an answer to send as it is. */
export function authenticate(request: Request, config: Config, access: Access): Client | Response {
  const presented = /^Bearer +(\S+)$/iu.exec(request.headers.get('authorization') ?? '')?.[1]
  const record = presented === undefined ? undefined : verifyToken(presented, config.tokens)
  if (config.tokens.length > 0 && record === undefined) return unauthorized()
  try {
    return access.client(record, profileOf(new URL(request.url).pathname))
  } catch (error) {
    if (!isFailure(error, 'unknown_profile') && !(error instanceof URIError)) throw error
    return Response.json({ error: error.message }, { status: 404 })
  }
}
