import { UsageMemory } from '@unfold-mcp/core'
import type { Searcher } from './searcher.ts'

interface RecentSearch {
  readonly query: string
  /** Results that were not called yet. */
  readonly uncalled: Set<string>
  readonly atMs: number
}

interface Usage {
  readonly memory: UsageMemory
  searches: readonly RecentSearch[]
}

const maxPrincipals = 1_000
const maxSearches = 20
const maxQueryLength = 4_096
/** Later calls are not attributed to a search. */
const attributionMs = 10 * 60 * 1_000

/** Records which tools were called after a search: per principal, and for anonymous clients per session. */
export class UsageHistory {
  readonly #now: () => number
  readonly #principals = new Map<string, Usage>()
  readonly #sessions = new WeakMap<Searcher, Usage>()

  constructor(now: () => number) {
    this.#now = now
  }

  recordSearch(scope: Searcher, query: string, ids: readonly string[]): void {
    if (ids.length === 0) return
    const usage = this.#usageOf(scope) ?? { memory: new UsageMemory(), searches: [] }
    this.#store(scope, usage)
    const search = { query: query.slice(0, maxQueryLength), uncalled: new Set(ids), atMs: this.#now() }
    usage.searches = [...this.#recent(usage), search].slice(-maxSearches)
  }

  /** Attributes a call to the last search that found the tool. */
  recordCall(scope: Searcher, id: string): void {
    const usage = this.#usageOf(scope)
    if (usage === undefined) return
    const search = this.#recent(usage).findLast(({ uncalled }) => uncalled.has(id))
    if (search === undefined) return
    // Calls in a loop count once.
    search.uncalled.delete(id)
    usage.memory.record(search.query, id, this.#now())
  }

  /** Returns the factors for the scores of this scope's search. */
  boost(scope: Searcher, query: string): (id: string) => number {
    return this.#usageOf(scope)?.memory.boost(query, this.#now()) ?? (() => 1)
  }

  #recent({ searches }: Usage): readonly RecentSearch[] {
    const since = this.#now() - attributionMs
    return searches.filter(({ atMs }) => atMs >= since)
  }

  #usageOf(scope: Searcher): Usage | undefined {
    const id = scope.settings.principal?.id
    return id === undefined ? this.#sessions.get(scope) : this.#principals.get(id)
  }

  #store(scope: Searcher, usage: Usage): void {
    const id = scope.settings.principal?.id
    // A scope is one session. Each anonymous 2026-07-28 request has its own scope, so nothing is stored across them.
    if (id === undefined) {
      this.#sessions.set(scope, usage)
      return
    }
    this.#principals.delete(id)
    this.#principals.set(id, usage)
    for (const oldest of this.#principals.keys()) {
      if (this.#principals.size <= maxPrincipals) break
      this.#principals.delete(oldest)
    }
  }
}
