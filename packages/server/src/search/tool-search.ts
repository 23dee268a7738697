import type { Catalog } from '@unfold-mcp/core'
import type { ToolEntry } from '../tool/entry.ts'
import { Finder, type FinderOptions } from './finder.ts'
import type { Searcher } from './searcher.ts'
import { type Found, type IndexQuery, ToolIndex } from './tool-index.ts'

interface SearchRequest {
  readonly catalog: Catalog<ToolEntry>
  /** Whether all scopes share this catalogue; each of the others has an index of its own. */
  readonly isShared: boolean
  readonly query: string
  /** The entries to search; no other has any influence. */
  readonly among: readonly ToolEntry[]
  readonly limit: number
  readonly signal?: AbortSignal | undefined
}

/** Searches the tools of a toolbox. */
export class ToolSearch {
  readonly #finder: Finder
  readonly #shared = new ToolIndex()
  readonly #own = new WeakMap<object, ToolIndex>()

  constructor(options: FinderOptions) {
    this.#finder = new Finder(options)
  }

  search(scope: Searcher, { catalog, isShared, query, among, ...options }: SearchRequest): Promise<Found> {
    // The index holds entries as they were declared; results hold them as this scope sees them.
    const visible = new Map(among.map((entry) => [entry.declared ?? entry, entry]))
    const index = isShared ? this.#shared : this.#ownIndex(catalog)
    const byWords = (rest: Omit<IndexQuery, 'allowed'>): Found => {
      const found = index.search(catalog, query, { ...rest, allowed: (entry) => visible.has(entry) })
      return { ...found, matches: found.matches.map((match) => ({ ...match, entry: visible.get(match.entry) ?? match.entry })) }
    }
    return this.#finder.find({ scope, query, among, ...options, byWords })
  }

  /** Records that a tool was called, for search that learns from use. */
  called(scope: Searcher, entry: ToolEntry): void {
    this.#finder.called(scope, entry)
  }

  close(): void {
    this.#finder.close()
  }

  #ownIndex(catalog: object): ToolIndex {
    const index = this.#own.get(catalog) ?? new ToolIndex()
    this.#own.set(catalog, index)
    return index
  }
}
