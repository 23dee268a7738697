/** Where MCP clients connect; a profile or a server may follow. */
export const mcpPath = '/mcp'

/** What stands before the name of a server in an address. No profile may be called so. */
export const serverSegment = 's'

/** What an address asks for. */
interface McpPathTarget {
  readonly profile?: string
  /** The server alone, under its own names; empty where the address leaves it out. */
  readonly server?: string
}

/** What a path asks for: `/mcp/<profile>` or `/mcp/s/<server>`. Throws `URIError` for a name that cannot be read. */
export function parseMcpPath(pathname: string): McpPathTarget {
  const rest = pathname.slice(mcpPath.length + 1)
  if (rest === '') return {}
  const [first, ...more] = rest.split('/')
  return first === serverSegment ? { server: decodeURIComponent(more.join('/')) } : { profile: decodeURIComponent(rest) }
}

/** Where clients reach a server alone, below the address at which they reach all of them. */
export const serverUrl = (url: string, server: string): string => `${url}/${serverSegment}/${encodeURIComponent(server)}`
