import { type Tool, toolFingerprint } from '@unfold-mcp/core'

/** Difference between two tool lists. */
export interface Difference {
  readonly added: readonly Tool[]
  readonly removed: readonly Tool[]
  readonly changed: readonly { readonly before: Tool; readonly after: Tool }[]
}

/** Compares two tool lists. Their order and the `_meta` of tools are ignored. */
export function diffTools(before: readonly Tool[], after: readonly Tool[]): Difference {
  if (before === after) return { added: [], removed: [], changed: [] }
  const known = new Map(before.map((tool) => [tool.name, tool]))
  const remaining = new Set(after.map((tool) => tool.name))
  return {
    added: after.filter((tool) => !known.has(tool.name)),
    removed: before.filter((tool) => !remaining.has(tool.name)),
    changed: after.flatMap((tool) => {
      const old = known.get(tool.name)
      return old === undefined || isSame(old, tool) ? [] : [{ before: old, after: tool }]
    }),
  }
}

export const isEmptyDifference = ({ added, removed, changed }: Difference): boolean =>
  added.length === 0 && removed.length === 0 && changed.length === 0

function isSame(a: Tool, b: Tool): boolean {
  if (a === b) return true
  try {
    return toolFingerprint(a) === toolFingerprint(b)
  } catch {
    // Nested deeper than the stack: treated as changed.
    return false
  }
}
