import { gateName, type HostHint, searchHint, type Tool } from '@unfold-mcp/core'
import type { ToolEntry } from './entry.ts'

type Hints = { readonly [hint in HostHint]?: boolean | string }

/** `_meta` that keeps a host with its own tool search from deferring a tool. */
export const alwaysLoad: Hints = { 'anthropic/alwaysLoad': true }

const hinted = { search: new WeakMap<Tool, Tool>(), load: new WeakMap<Tool, Tool>() }

/**
 * Adds the hints that such hosts read: load pinned tools at once, or all of them (`load`), and find the others by everyday words as
 * well. Hints that the author wrote stay.
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
