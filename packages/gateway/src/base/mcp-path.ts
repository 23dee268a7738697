/** Path of the MCP endpoint; a profile or a server may follow. */
export const mcpPath = '/mcp'

/** Path segment before the name of a single server. Reserved: no profile can have this name. */
export const serverSegment = 's'

interface McpPathTarget {
  readonly profile?: string
  /** Empty if the path ends after the segment. */
  readonly server?: string
}

/** Parses `/mcp/<profile>` or `/mcp/s/<server>`. Throws `URIError` for invalid percent-encoding. */
export function parseMcpPath(pathname: string): McpPathTarget {
  const rest = pathname.slice(mcpPath.length + 1)
  if (rest === '') return {}
  const [first, ...more] = rest.split('/')
  return first === serverSegment ? { server: decodeURIComponent(more.join('/')) } : { profile: decodeURIComponent(rest) }
}

/** Endpoint of a single server below the MCP endpoint. */
export const serverUrl = (url: string, server: string): string => `${url}/${serverSegment}/${encodeURIComponent(server)}`
