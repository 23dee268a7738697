import { type GroupCost, toolTokens } from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'
import type { CatalogState } from './catalog-state.ts'

/** What the tools of a group cost in tokens, without those that are forbidden. */
export function groupCost({ catalog: { byGroup } }: CatalogState, forbidden?: ReadonlySet<ToolEntry>): GroupCost {
  return (group) =>
    (byGroup.get(group) ?? []).reduce((sum, entry) => (forbidden?.has(entry) ? sum : sum + toolTokens(entry.tool)), 0)
}
