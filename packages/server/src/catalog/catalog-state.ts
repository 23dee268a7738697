import type { Catalog, Groups } from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'
import type { SurfacePlan } from './activators.ts'

/** Everything that views are computed from, at one moment. */
export interface CatalogState {
  readonly catalog: Catalog<ToolEntry>
  readonly groups: Groups
  readonly surface: SurfacePlan
}
