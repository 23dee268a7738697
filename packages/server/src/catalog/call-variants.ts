import { facetOf, type Tool } from '@unfold-mcp/core'

/** The kind of tools that a variant of `call_tool` calls. */
export type Kind = 'read' | 'write' | 'destructive'

export function kindOf(tool: Tool): Kind {
  const facet = facetOf(tool)
  return facet === 'read-only' ? 'read' : facet
}

/** The discovery tool that calls this tool. */
export const callerOf = (tool: Tool, variants: boolean): string => (variants ? `call_tool_${kindOf(tool)}` : 'call_tool')
