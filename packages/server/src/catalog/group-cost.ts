import { type GroupCost, toolTokens } from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'
import type { World } from '../view/views.ts'

/** What the tools of a group cost in tokens, without those that are forbidden. */
export function groupCost({ catalog: { byGroup } }: World, forbidden?: ReadonlySet<ToolEntry>): GroupCost {
  return (group) =>
    (byGroup.get(group) ?? []).reduce((sum, entry) => (forbidden?.has(entry) ? sum : sum + toolTokens(entry.tool)), 0)
}
