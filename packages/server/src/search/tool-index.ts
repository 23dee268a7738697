import {
  type Catalog,
  documentOf,
  gateName,
  SearchIndex,
  type SearchMatch,
  type SearchOptions,
  type SearchResult,
  toolFingerprint,
} from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'
import type { Fallback } from './fallback.ts'

export interface Finding {
  readonly entry: ToolEntry
  readonly score: number
  /** The query is the name of this tool, or mentions it. */
  readonly isNamed: boolean
}

/** What a search found among the entries it was allowed to look at. */
export interface Found extends Omit<SearchResult, 'matches'> {
  readonly matches: readonly Finding[]
  /** Why this is less than the toolbox could give, where it is. */
  readonly fallback?: Fallback
}

/** What to look for by words alone. */
export interface IndexQuery extends Pick<SearchOptions, 'boost' | 'perSource'> {
  readonly allowed: (entry: ToolEntry) => boolean
  readonly limit: number
}

/** An index over the tools of a catalogue that follows it: only tools that changed are indexed again. */
export class ToolIndex {
  readonly #index = new SearchIndex()
  readonly #states = new Map<string, string>()
  #entries = new Map<string, ToolEntry>()
  #followed: Catalog<ToolEntry> | undefined

  /** The best matches among the entries that `allowed` lets through; the others leave no trace. */
  search(catalog: Catalog<ToolEntry>, query: string, { allowed, ...options }: IndexQuery): Found {
    this.#follow(catalog)
    const permitted = (id: string): boolean => {
      const entry = this.#entries.get(id)
      return entry !== undefined && allowed(entry)
    }
    const { matches, ...rest } = this.#index.search(query, { ...options, filter: permitted })
    return { ...rest, matches: matches.flatMap((match) => this.#finding(match)) }
  }

  #finding({ id, score, isNamed }: SearchMatch): readonly Finding[] {
    const entry = this.#entries.get(id)
    return entry === undefined ? [] : [{ entry, score, isNamed }]
  }

  #follow(catalog: Catalog<ToolEntry>): void {
    if (catalog === this.#followed) return
    const entries = new Map(catalog.entries.filter(isFindable).map((entry) => [idOf(entry), entry]))
    for (const id of this.#states.keys()) {
      if (entries.has(id)) continue
      this.#index.delete(id)
      this.#states.delete(id)
    }
    for (const [id, entry] of entries) {
      const state = stateOf(entry)
      if (this.#states.get(id) === state) continue
      this.#index.set(documentOf(entry.tool, { id, source: entry.source, tags: entry.tags, ...groupOf(entry) }))
      this.#states.set(id, state)
    }
    this.#entries = entries
    this.#followed = catalog
  }
}

/** What a search knows an entry by. */
export const idOf = ({ tool, version = '' }: ToolEntry): string => `${tool.name}@${version}`

const isFindable = ({ origin, isHandwritten }: ToolEntry): boolean => origin !== 'surface' || isHandwritten === true

const stateOf = ({ tool, tags, visibility }: ToolEntry): string =>
  `${toolFingerprint(tool)} ${visibility.group ?? ''} ${tags.join()}`

const groupOf = ({ visibility: { group } }: ToolEntry): { group?: string } =>
  group === undefined || group === gateName ? {} : { group }
