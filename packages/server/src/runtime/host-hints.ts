import { gateName, type HostHint, searchHint, type Tool } from '@unfold-mcp/core'
import type { ToolEntry } from '../entry.ts'

type Hints = { readonly [hint in HostHint]?: boolean | string }

/** Keeps a host with a tool search of its own from hiding a tool. */
export const alwaysLoad: Hints = { 'anthropic/alwaysLoad': true }

const hinted = new WeakMap<Tool, Tool>()

/**
 * The tool with what such hosts read: load always-listed tools at once, and find the others also by the words people use for
 * them. Hints that the author wrote stay.
 */
export function withHints({ visibility, tags, pinned }: ToolEntry, tool: Tool): Tool {
  const found = hinted.get(tool)
  if (found !== undefined) return found
  const { group } = visibility
  const words = searchHint(tool, group === undefined || group === gateName ? tags : [group, ...tags])
  const hints: Hints = pinned === true ? alwaysLoad : words === '' ? {} : { 'anthropic/searchHint': words }
  const made = { ...tool, _meta: { ...hints, ...tool._meta } }
  hinted.set(tool, made)
  return made
}
