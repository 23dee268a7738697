import { type GroupCost, toolTokens } from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'
import type { CatalogState } from './catalog-state.ts'

/** The cost of a group's tools in tokens, without forbidden ones. */
export function groupCost({ catalog: { byGroup } }: CatalogState, forbidden?: ReadonlySet<ToolEntry>): GroupCost {
  return (group) =>
    (byGroup.get(group) ?? []).reduce((sum, entry) => (forbidden?.has(entry) ? sum : sum + toolTokens(entry.tool)), 0)
}
