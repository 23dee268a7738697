import type { Tool } from '@unfold-mcp/client'

export const searchToolIn = (tools: readonly Tool[]): string | undefined => firstOf(tools, ['search_tools', 'manage_tools'])

export const callToolIn = (tools: readonly Tool[]): string | undefined => firstOf(tools, ['call_tool', 'call_tool_read'])

const firstOf = (tools: readonly Tool[], names: readonly string[]): string | undefined =>
  names.find((wanted) => tools.some(({ name }) => name === wanted))
