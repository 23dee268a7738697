import { facetOf, type ViewInputs } from '@unfold-mcp/core'
import { groupNames, type Reader } from '../catalog/activators.ts'
import type { CatalogState } from '../catalog/catalog-state.ts'
import type { ToolEntry } from '../tool/entry.ts'

/** The groups and tools that a client with these inputs may know of. Conditional tools are not mentioned. */
export function readerOf({ catalog, groups }: CatalogState, inputs: ViewInputs<ToolEntry>): Reader {
  const exists = (entry: ToolEntry): boolean =>
    !inputs.forbidden.has(entry) && (!inputs.readOnly || facetOf(entry.tool) === 'read-only')
  const existing = (group: string): readonly ToolEntry[] => (catalog.byGroup.get(group) ?? []).filter(exists)
  const worthKnowing = (group: string): boolean =>
    (inputs.forbidden.size === 0 && !inputs.readOnly) ||
    existing(group).length > 0 ||
    (groups.children.get(group) ?? []).some(worthKnowing)
  return {
    groups: new Set(groupNames(groups).filter(worthKnowing)),
    toolsOf: (group) => [
      ...new Set(
        existing(group)
          .filter((entry) => !comesAndGoes(entry))
          .map((entry) => entry.tool.name),
      ),
    ],
  }
}

/** Whether the tool is conditional: it has a predicate, or only modes that have one. */
function comesAndGoes({ visibility, modes }: ToolEntry): boolean {
  if (visibility.when !== undefined) return true
  return modes?.policy === 'filtered' && modes.all.every(({ available }) => available !== undefined)
}
