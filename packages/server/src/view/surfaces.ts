import { type Exposure, listsEverything, type Surface } from '@unfold-mcp/core'
import type { CatalogState } from '../catalog/catalog-state.ts'
import type { Scope } from '../scope/scope.ts'

/** No generated tools. */
export const noSurfaces: ReadonlySet<Surface> = new Set()

/**
 * The generated tools that an exposure lists. A client that does not see new tools in time also gets `call_tool`, and one that
 * never lists again gets `search_tools` for tools that are added later.
 */
export function surfacesFor(catalogState: CatalogState, scope: Scope, exposure: Exposure): ReadonlySet<Surface> {
  if (exposure === 'code') return codeSurfaces
  const others = otherSurfaces(catalogState, scope, exposure)
  return scope.settings.exposureSettings.code ? (withCode.get(others) ?? others) : others
}

function otherSurfaces({ groups }: CatalogState, scope: Scope, exposure: Exposure): ReadonlySet<Surface> {
  const { settings, missesChanges } = scope
  const { callVariants } = settings.exposureSettings
  const withCall = callVariants ? 'withVariants' : 'withCall'
  if (exposure === 'search' || (listsEverything(exposure) && needsFinder(scope, exposure))) return surfaceSets.search[withCall]
  if (!settings.canActivate || listsEverything(exposure)) return noSurfaces
  const finds = surfaceSets[exposure === 'lazy' ? 'manage' : 'activators']
  const hidesTools = exposure !== 'groups' || groups.byName.size > 0
  return missesChanges && hidesTools ? finds[withCall] : finds.alone
}

/** Whether tools that are added later could not be reached otherwise. */
function needsFinder({ settings, relists }: Scope, exposure: Exposure): boolean {
  return relists === 'never' && (exposure === 'native' || settings.preference === 'auto')
}

const codeSurfaces: ReadonlySet<Surface> = new Set<Surface>(['search', 'code'])

const surfaceSets = { search: setsWith('search'), manage: setsWith('manage'), activators: setsWith('activators') }

// Always the same objects, because views are cached by them.
function setsWith(surface: Surface): { readonly [K in 'alone' | 'withCall' | 'withVariants']: ReadonlySet<Surface> } {
  return {
    alone: new Set([surface]),
    withCall: new Set([surface, 'call']),
    withVariants: new Set([surface, 'call-variants']),
  }
}

const withCode: ReadonlyMap<ReadonlySet<Surface>, ReadonlySet<Surface>> = new Map(
  [noSurfaces, ...Object.values(surfaceSets).flatMap((sets) => Object.values(sets))].map((set) => [
    set,
    new Set([...set, 'code']),
  ]),
)
