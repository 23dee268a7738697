import { computeView, type ViewInputs } from '@unfold-mcp/core'
import { forReader, isUndescribed, surfaceSource } from '../catalog/activators.ts'
import type { CatalogState } from '../catalog/catalog-state.ts'
import { describedFor } from '../catalog/discovery-tools.ts'
import type { ToolEntry } from '../tool/entry.ts'
import { withHints } from '../tool/host-hints.ts'
import { readerOf } from './reader.ts'
import { advised, type RenderedView, renderView } from './rendered-view.ts'

/** Renders the list for the given inputs. */
export function render(catalogState: CatalogState, inputs: ViewInputs<ToolEntry>): RenderedView {
  const surface = surfaceFor(catalogState, inputs)
  return renderView(
    computeView(catalogState.catalog, inputs).entries.map((entry) => surface.get(entry) ?? rendered(entry, inputs)),
  )
}

/** Renders an entry: its available modes, advice on what to call first, and hints for hosts. */
function rendered(entry: ToolEntry, inputs: ViewInputs<ToolEntry>): ToolEntry {
  const available = inputs.modes.get(entry)
  const modes = inputs.everyMode ? entry.modes?.asStatic : entry.modes
  const tool = available === undefined ? entry.tool : (modes?.toolWith(entry.tool, available) ?? entry.tool)
  const empty = modes !== entry.modes && entry.modes?.all.some((mode) => mode.available !== undefined)
  const whole = empty === true ? advised(tool, emptyModes) : tool
  const first =
    typeof entry.after === 'string' && inputs.succeeded === undefined ? advised(whole, `Call ${entry.after} first.`) : whole
  const hinted = inputs.hints === 'none' ? first : withHints(entry, first, inputs.hints)
  if (hinted === entry.tool && modes === entry.modes) return entry
  return { ...entry, tool: hinted, ...(modes !== undefined && { modes }), declared: entry }
}

/** Added to tools that list modes which may be empty. It does not name them, because this list is read only once. */
const emptyModes = 'A mode without data replies with how to get some.'

type Described = ReadonlyMap<ToolEntry, ToolEntry>

const sharedSurfaces = { withCode: new WeakMap<CatalogState, Described>(), withoutCode: new WeakMap<CatalogState, Described>() }

/** The generated tools, described for this client. */
function surfaceFor(catalogState: CatalogState, inputs: ViewInputs<ToolEntry>): Described {
  const listsCode = inputs.surfaces.has('code')
  const shared = listsCode ? sharedSurfaces.withCode : sharedSurfaces.withoutCode
  // Descriptions are the same for all clients without restrictions, so they are built and encoded once.
  const isWhole = inputs.forbidden.size === 0 && !inputs.readOnly
  const found = isWhole ? shared.get(catalogState) : undefined
  if (found !== undefined) return found
  const reader = readerOf(catalogState, inputs)
  const entries = catalogState.catalog.entries.filter((entry) => entry.source === surfaceSource || isUndescribed(entry))
  const made = new Map(
    entries.map((entry) => [entry, describedFor(forReader(entry, catalogState.surface, reader), reader, listsCode)]),
  )
  if (isWhole) shared.set(catalogState, made)
  return made
}
