import { Failure } from '../base/failure.ts'
import { checkToolName } from '../base/names.ts'
import { type Groups, groupOf } from '../groups/groups.ts'
import type { Entry, Origin } from '../tool/entry.ts'

/** Name claimed by two sources; the entry of `winner` is served. */
export interface Clash {
  readonly name: string
  readonly winner: string
  readonly loser: string
}

/** Immutable set of all entries of all sources, in list order. */
export interface Catalog<E extends Entry = Entry> {
  readonly version: number
  readonly entries: readonly E[]
  /** Every version of a tool, newest last. */
  readonly byName: ReadonlyMap<string, readonly E[]>
  /** Former names and their current names. */
  readonly aliases: ReadonlyMap<string, string>
  readonly byGroup: ReadonlyMap<string, readonly E[]>
  /** Entries with a predicate. */
  readonly conditional: readonly E[]
  /** Entries with modes. */
  readonly composite: readonly E[]
  /** Tools that are prerequisites of others. */
  readonly awaited: ReadonlySet<string>
  readonly tags: ReadonlySet<string>
  readonly clashes: readonly Clash[]
}

const rank: { readonly [O in Origin]: number } = { surface: 0, static: 1, dynamic: 2 }

/** Handwritten activators are listed with the generated ones. */
const listRank = (entry: Entry): number =>
  entry.origin === 'static' && entry.activates !== undefined ? rank.surface : rank[entry.origin]

/**
 * Builds a catalog. A static entry wins over a dynamic one of the same name, and the clash is recorded; duplicates within one source
 * or between static ones are rejected.
 */
export function buildCatalog<E extends Entry>(version: number, given: readonly E[], groups: Groups): Catalog<E> {
  const ordered = given.toSorted((a, b) => listRank(a) - listRank(b))
  const byName = new Map<string, E[]>()
  const clashes: Clash[] = []
  for (const entry of ordered) {
    checkToolName(entry.tool.name)
    if (entry.visibility.group !== undefined) groupOf(groups, entry.visibility.group)
    if (entry.activates !== undefined) groupOf(groups, entry.activates)
    admit(entry, byName, clashes)
  }
  const entries = ordered.filter((entry) => byName.get(entry.tool.name)?.includes(entry))
  for (const versions of byName.values()) versions.sort(byVersion)
  return {
    version,
    entries,
    byName,
    aliases: aliasesOf(entries, byName, clashes),
    byGroup: groupBy(entries),
    conditional: entries.filter((entry) => entry.visibility.when !== undefined),
    composite: entries.filter((entry) => entry.modes !== undefined),
    awaited: new Set(entries.flatMap(({ after }) => (typeof after === 'string' ? [after] : []))),
    tags: new Set(entries.flatMap((entry) => entry.tags)),
    clashes,
  }
}

function admit<E extends Entry>(entry: E, byName: Map<string, E[]>, clashes: Clash[]): void {
  const { name } = entry.tool
  const same = byName.get(name)
  const first = same?.[0]
  if (same === undefined || first === undefined) {
    byName.set(name, [entry])
    return
  }
  if (first.source === entry.source && first.origin === entry.origin) {
    if (same.some((other) => other.version === entry.version)) throw duplicate(name, [entry.source], entry.version)
    same.push(entry)
    return
  }
  if (entry.origin !== 'dynamic') throw duplicate(name, [first.source, entry.source])
  clashes.push({ name, winner: first.source, loser: entry.source })
}

function aliasesOf<E extends Entry>(
  entries: readonly E[],
  byName: ReadonlyMap<string, readonly E[]>,
  clashes: Clash[],
): Map<string, string> {
  const aliases = new Map<string, string>()
  for (const entry of entries) {
    for (const alias of entry.aliases) {
      checkToolName(alias)
      const taken = byName.get(alias)?.[0]
      const other = aliases.get(alias)
      const holder = taken ?? (other === undefined ? undefined : byName.get(other)?.[0])
      if (taken === undefined && (other === undefined || other === entry.tool.name)) {
        aliases.set(alias, entry.tool.name)
      } else if (entry.origin === 'dynamic' || taken?.origin === 'dynamic') {
        clashes.push({ name: alias, winner: holder?.source ?? '', loser: entry.source })
      } else {
        throw duplicate(alias, [holder?.source ?? entry.source, entry.source])
      }
    }
  }
  return aliases
}

function groupBy<E extends Entry>(entries: readonly E[]): Map<string, E[]> {
  const found = new Map<string, E[]>()
  for (const entry of entries) {
    const name = entry.visibility.group
    if (name === undefined || entry.activates !== undefined) continue
    const members = found.get(name)
    if (members === undefined) found.set(name, [entry])
    else members.push(entry)
  }
  return found
}

/** Compares versions: numerically, a pre-release before its release, none before any. */
export function byVersion(a: { readonly version?: string }, b: { readonly version?: string }): number {
  const [aRelease = '', aPre] = (a.version ?? '').split(/-(.*)/su)
  const [bRelease = '', bPre] = (b.version ?? '').split(/-(.*)/su)
  const numeric = (x: string, y: string): number => x.localeCompare(y, 'en', { numeric: true })
  const release = numeric(aRelease, bRelease)
  if (release !== 0) return release
  if (aPre === undefined || bPre === undefined) return Number(aPre === undefined) - Number(bPre === undefined)
  return numeric(aPre, bPre)
}

function duplicate(name: string, sources: readonly string[], version?: string): Failure {
  const which = version === undefined ? `"${name}"` : `"${name}" in version ${version}`
  const where = sources.length === 1 ? `twice in ${sources[0]}` : `in ${sources.join(' and in ')}`
  return new Failure('duplicate_name', `The tool ${which} is declared ${where}. Rename one, or give each its own version.`, {
    name,
    sources,
  })
}
