import {
  type Catalog,
  documentOf,
  type Explanation,
  gateName,
  SearchIndex,
  type SearchOptions,
  type SearchResult,
  toolFingerprint,
} from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'
import type { Fallback } from './fallback.ts'

interface ScoredEntry {
  readonly entry: ToolEntry
  readonly score: number
  /** The query contains the name of this tool. */
  readonly isNamed: boolean
  /** Copies of this tool from other sources. */
  readonly clones?: readonly ToolEntry[]
  /** Only if asked for, and only for matches by keyword. */
  readonly why?: Explanation
}

export interface ToolSearchResult extends Omit<SearchResult, 'matches'> {
  readonly matches: readonly ScoredEntry[]
  /** Set if the result is degraded. */
  readonly fallback?: Fallback
}

export interface IndexQuery extends Pick<SearchOptions, 'boost' | 'perSource' | 'meaning' | 'minConfidence' | 'explain'> {
  readonly allowed: (entry: ToolEntry) => boolean
  readonly limit: number
}

/** Keyword index of a catalogue. It is updated incrementally: only changed tools are indexed again. */
export class ToolIndex {
  readonly #index = new SearchIndex()
  readonly #fingerprints = new Map<string, string>()
  #entries = new Map<string, ToolEntry>()
  #catalog: Catalog<ToolEntry> | undefined

  /** Returns the best matches among the entries that `allowed` accepts; the others do not influence the result. */
  search(catalog: Catalog<ToolEntry>, query: string, { allowed, ...options }: IndexQuery): ToolSearchResult {
    this.#update(catalog)
    const permitted = (id: string): boolean => {
      const entry = this.#entries.get(id)
      return entry !== undefined && allowed(entry)
    }
    const { matches, ...rest } = this.#index.search(query, { ...options, filter: permitted })
    return {
      ...rest,
      matches: matches.flatMap(({ id, score, isNamed, clones, why }) => {
        const entry = this.#entries.get(id)
        if (entry === undefined) return []
        return [
          {
            entry,
            score,
            isNamed,
            ...(clones !== undefined && { clones: clones.flatMap((each) => this.#entries.get(each) ?? []) }),
            ...(why !== undefined && { why }),
          },
        ]
      }),
    }
  }

  /** True if two tools of the last search have nearly the same words. */
  areSimilar(one: string, other: string): boolean {
    return this.#index.areSimilar(one, other)
  }

  #update(catalog: Catalog<ToolEntry>): void {
    if (catalog === this.#catalog) return
    const entries = new Map(catalog.entries.filter(isSearchable).map((entry) => [idOf(entry), entry]))
    for (const id of this.#fingerprints.keys()) {
      if (entries.has(id)) continue
      this.#index.delete(id)
      this.#fingerprints.delete(id)
    }
    for (const [id, entry] of entries) {
      const fingerprint = fingerprintOf(entry)
      if (this.#fingerprints.get(id) === fingerprint) continue
      this.#index.set(documentOf(entry.tool, { id, source: entry.source, tags: entry.tags, ...groupOf(entry) }))
      this.#fingerprints.set(id, fingerprint)
    }
    this.#entries = entries
    this.#catalog = catalog
  }
}

export const idOf = ({ tool, version = '' }: ToolEntry): string => `${tool.name}@${version}`

const isSearchable = ({ origin, isHandwritten }: ToolEntry): boolean => origin !== 'surface' || isHandwritten === true

const fingerprintOf = ({ tool, tags, visibility }: ToolEntry): string =>
  `${toolFingerprint(tool)} ${visibility.group ?? ''} ${tags.join()}`

const groupOf = ({ visibility: { group } }: ToolEntry): { group?: string } =>
  group === undefined || group === gateName ? {} : { group }
