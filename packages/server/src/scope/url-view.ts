import {
  byVersion,
  type Exposure,
  Failure,
  gateName,
  isFailure,
  nearest,
  nearestHint,
  nothingActive,
  planActivateAll,
  printable,
} from '@unfold-mcp/core'
import { groupNames } from '../catalog/activators.ts'
import type { CatalogState } from '../catalog/catalog-state.ts'
import type { ToolEntry } from '../tool/entry.ts'

/** The preferences in a client's URL: `?groups=a,b&tags=c&versions=tool@1&exposure=everything&readOnly=true&host=codex`. */
export interface UrlView {
  readonly groups: readonly string[]
  readonly tags: readonly string[]
  readonly versions: { readonly [tool: string]: string }
  readonly exposure: Exposure | 'auto' | undefined
  /** Id of the connecting host. Unknown ids have no effect, so that clients can be newer than the server. */
  readonly host: string | undefined
  readonly readOnly: boolean
  /** Include the amount of data in `_meta`. */
  readonly counts: boolean
  readonly isEmpty: boolean
  /** Throws for names that do not exist for this client. */
  check(catalogState: CatalogState, permitted: (entry: ToolEntry) => boolean): void
}

const exposures: readonly (Exposure | 'auto')[] = ['auto', 'everything', 'native', 'groups', 'lazy', 'search', 'code']

export const emptyView: UrlView = viewOfUrl(new URLSearchParams())

const remembered = new Map<string, UrlView>()
const rememberedLimit = 100

/** Parses the query of a URL. Clients send the same one with every request, so the last few are cached. */
export function viewOfAddress(url: string): UrlView {
  const start = url.indexOf('?')
  if (start === -1) return emptyView
  const query = url.slice(start + 1).replace(/#.*$/u, '')
  const found = remembered.get(query)
  if (found !== undefined) return found
  const made = viewOfUrl(new URLSearchParams(query))
  if (remembered.size >= rememberedLimit) remembered.delete(remembered.keys().next().value ?? '')
  remembered.set(query, made)
  return made
}

/** Parses a query; throws `invalid_view`. */
export function viewOfUrl(parameters: URLSearchParams): UrlView {
  const groups = names(parameters, 'groups')
  const tags = names(parameters, 'tags')
  const versions = versionPins(names(parameters, 'versions'))
  const exposure = single('exposure', parameters.getAll('exposure'))
  if (exposure !== undefined && !isExposure(exposure)) throw invalid('exposure', exposure, exposures)
  const host = single('host', parameters.getAll('host'))
  if (host !== undefined && !/^[\w.-]{1,64}$/u.test(host)) throw invalid('host', host, [])
  const readOnly = flag('readOnly', parameters, false)
  const counts = flag('counts', parameters, true)
  const isEmpty = groups.length + tags.length + Object.keys(versions).length === 0 && exposure === undefined && !readOnly
  return {
    groups,
    tags,
    versions,
    exposure,
    host,
    readOnly,
    counts,
    isEmpty,
    check: isEmpty ? () => undefined : (catalogState, permitted) => check(catalogState, permitted),
  }

  function check({ catalog, groups: graph }: CatalogState, permitted: (entry: ToolEntry) => boolean): void {
    const worthKnowing = (name: string): boolean =>
      (catalog.byGroup.get(name) ?? []).some(permitted) || (graph.children.get(name) ?? []).some(worthKnowing)
    for (const name of groups) {
      if (name === gateName || !graph.byName.has(name) || !worthKnowing(name))
        throw invalid('groups', name, groupNames(graph).filter(worthKnowing))
    }
    refuseConflicts(graph, groups)
    const known = tags.length === 0 ? [] : catalog.entries.filter(permitted)
    const knownTags = new Set(known.flatMap((entry) => entry.tags))
    for (const tag of tags) if (!knownTags.has(tag)) throw invalid('tags', tag, [...knownTags])
    for (const [tool, version] of Object.entries(versions)) {
      const found = (catalog.byName.get(tool) ?? []).filter(permitted).toSorted(byVersion)
      const pins = found.flatMap((entry) => (entry.version === undefined ? [] : [`${tool}@${entry.version}`]))
      if (!pins.includes(`${tool}@${version}`)) throw invalid('versions', `${tool}@${version}`, pins)
    }
  }
}

function refuseConflicts(graph: CatalogState['groups'], groups: readonly string[]): void {
  try {
    planActivateAll(graph, nothingActive, groups)
  } catch (error) {
    if (!isFailure(error)) throw error
    const details = { parameter: 'groups', value: printable(groups.join(',')), nearest: [] }
    throw new Failure('invalid_view', `The URL requests groups that cannot be active together. ${error.message}`, details, {
      cause: error,
    })
  }
}

function names(parameters: URLSearchParams, name: string): readonly string[] {
  const all = parameters.getAll(name).flatMap((value) => value.split(','))
  return [...new Set(all.map((value) => value.trim()).filter((value) => value !== ''))]
}

function versionPins(values: readonly string[]): { readonly [tool: string]: string } {
  const pins = new Map<string, string>()
  for (const value of values) {
    const at = value.lastIndexOf('@')
    if (at < 1 || at === value.length - 1) throw invalid('versions', value, [])
    const tool = value.slice(0, at)
    if (pins.has(tool)) single('versions', [`${tool}@${pins.get(tool)}`, value])
    pins.set(tool, value.slice(at + 1))
  }
  return Object.fromEntries(pins)
}

/** Throws if a parameter occurs twice with different values. */
function single(parameter: string, values: readonly string[]): string | undefined {
  const [value, other] = new Set(values)
  if (value === undefined || other === undefined) return value
  const both = printable(`${value}" and "${other}`)
  throw new Failure('invalid_view', `The URL has more than one value for ${parameter}: "${both}". Remove one.`, {
    parameter,
    value: printable(other),
    nearest: [],
  })
}

function flag(name: string, parameters: URLSearchParams, otherwise: boolean): boolean {
  const value = single(name, parameters.getAll(name))
  if (value === undefined) return otherwise
  if (value === 'false' || value === '0') return false
  if (value === '' || value === 'true' || value === '1') return true
  throw invalid(name, value, ['true', 'false'])
}

const isExposure = (value: string): value is Exposure | 'auto' => exposures.some((exposure) => exposure === value)

function invalid(parameter: string, value: string, known: readonly string[]): Failure {
  const close = nearest(value, known)
  const choice = known.length === 0 || known.length > 12 ? '' : ` Known: ${known.join(', ')}.`
  return new Failure('invalid_view', `Unknown ${parameter} "${printable(value)}" in the URL.${nearestHint(close)}${choice}`, {
    parameter,
    value: printable(value),
    nearest: close,
  })
}
