import { type Tool, toolFingerprint } from '@unfold-mcp/core'

/** How one list of tools differs from another. */
export interface Difference {
  readonly added: readonly Tool[]
  readonly removed: readonly Tool[]
  readonly changed: readonly { readonly before: Tool; readonly after: Tool }[]
}

/** What is new, gone, or not what it was. Order does not matter, nor does what a tool's `_meta` says. */
export function differenceOf(before: readonly Tool[], after: readonly Tool[]): Difference {
  if (before === after) return { added: [], removed: [], changed: [] }
  const known = new Map(before.map((tool) => [tool.name, tool]))
  const there = new Set(after.map((tool) => tool.name))
  return {
    added: after.filter((tool) => !known.has(tool.name)),
    removed: before.filter((tool) => !there.has(tool.name)),
    changed: after.flatMap((tool) => {
      const old = known.get(tool.name)
      return old === undefined || isSame(old, tool) ? [] : [{ before: old, after: tool }]
    }),
  }
}

export const isNone = ({ added, removed, changed }: Difference): boolean =>
  added.length === 0 && removed.length === 0 && changed.length === 0

function isSame(a: Tool, b: Tool): boolean {
  if (a === b) return true
  try {
    return toolFingerprint(a) === toolFingerprint(b)
  } catch {
    // Nested deeper than the stack: such a tool is never known to be the same.
    return false
  }
}
