import { facetOf, type Tool } from '@unfold-mcp/core'

/** What a variant of `call_tool` calls. */
export type Kind = 'read' | 'write' | 'destructive'

/** The variant that calls this tool. */
export function kindOf(tool: Tool): Kind {
  const facet = facetOf(tool)
  return facet === 'read-only' ? 'read' : facet
}

/** The tool of the surface that calls this one. */
export const callerOf = (tool: Tool, variants: boolean): string => (variants ? `call_tool_${kindOf(tool)}` : 'call_tool')
