import { gateName, type HostHint, searchHint, type Tool } from '@unfold-mcp/core'
import type { ToolEntry } from './entry.ts'

type Hints = { readonly [hint in HostHint]?: boolean | string }

/** Keeps a host with a tool search of its own from hiding a tool. */
export const alwaysLoad: Hints = { 'anthropic/alwaysLoad': true }

const hinted = { search: new WeakMap<Tool, Tool>(), load: new WeakMap<Tool, Tool>() }

/**
 * The tool with what such hosts read: load always-listed tools at once, or all of them (`load`), and find the others also by the
 * words people use for them. Hints that the author wrote stay.
 */
export function withHints({ visibility, tags, pinned }: ToolEntry, tool: Tool, kind: 'search' | 'load'): Tool {
  const found = hinted[kind].get(tool)
  if (found !== undefined) return found
  const { group } = visibility
  const words = searchHint(tool, group === undefined || group === gateName ? tags : [group, ...tags])
  const isLoaded = pinned === true || kind === 'load'
  const hints: Hints = isLoaded ? alwaysLoad : words === '' ? {} : { 'anthropic/searchHint': words }
  const made = { ...tool, _meta: { ...hints, ...tool._meta } }
  hinted[kind].set(tool, made)
  return made
}
