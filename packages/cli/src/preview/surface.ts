import type { Tool } from '@unfold-mcp/client'

/** The listed tool with which a model finds others. */
export const searchToolIn = (tools: readonly Tool[]): string | undefined => firstOf(tools, ['search_tools', 'manage_tools'])

/** The listed tool with which a model calls what is not listed. */
export const callToolIn = (tools: readonly Tool[]): string | undefined => firstOf(tools, ['call_tool', 'call_tool_read'])

const firstOf = (tools: readonly Tool[], names: readonly string[]): string | undefined =>
  names.find((wanted) => tools.some(({ name }) => name === wanted))
