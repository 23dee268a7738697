import { UsageMemory } from '@unfold-mcp/core'
import type { Searcher } from './searcher.ts'

/** A search that showed something. */
interface Search {
  readonly query: string
  /** What it showed and was not called since. */
  readonly shown: Set<string>
  readonly atMs: number
}

interface Habit {
  readonly memory: UsageMemory
  searches: readonly Search[]
}

const mostPrincipals = 1_000
const mostSearches = 20
const longestQuery = 4_096
/** A call this long after a search was not because of it. */
const attributedMs = 10 * 60 * 1_000

/** What each principal called after searching, kept apart from all others; of somebody unknown, for the length of a session. */
export class Habits {
  readonly #now: () => number
  readonly #principals = new Map<string, Habit>()
  readonly #sessions = new WeakMap<Searcher, Habit>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** A search of this scope showed these. */
  searched(scope: Searcher, query: string, ids: readonly string[]): void {
    if (ids.length === 0) return
    const habit = this.#of(scope) ?? { memory: new UsageMemory(), searches: [] }
    this.#keep(scope, habit)
    const search = { query: query.slice(0, longestQuery), shown: new Set(ids), atMs: this.#now() }
    habit.searches = [...this.#recent(habit), search].slice(-mostSearches)
  }

  /** This scope called a tool: the last search that showed it led there. */
  called(scope: Searcher, id: string): void {
    const habit = this.#of(scope)
    if (habit === undefined) return
    const search = this.#recent(habit).findLast(({ shown }) => shown.has(id))
    if (search === undefined) return
    // A tool called in a loop was chosen once.
    search.shown.delete(id)
    habit.memory.record(search.query, id, this.#now())
  }

  /** By what to multiply the scores of this scope's search. */
  boost(scope: Searcher, query: string): (id: string) => number {
    return this.#of(scope)?.memory.boost(query, this.#now()) ?? (() => 1)
  }

  #recent({ searches }: Habit): readonly Search[] {
    const since = this.#now() - attributedMs
    return searches.filter(({ atMs }) => atMs >= since)
  }

  #of(scope: Searcher): Habit | undefined {
    const id = scope.settings.principal?.id
    return id === undefined ? this.#sessions.get(scope) : this.#principals.get(id)
  }

  #keep(scope: Searcher, habit: Habit): void {
    const id = scope.settings.principal?.id
    // A scope is one session; requests of strangers on 2026-07-28 each have their own, so nothing is kept of them.
    if (id === undefined) {
      this.#sessions.set(scope, habit)
      return
    }
    this.#principals.delete(id)
    this.#principals.set(id, habit)
    for (const oldest of this.#principals.keys()) {
      if (this.#principals.size <= mostPrincipals) break
      this.#principals.delete(oldest)
    }
  }
}
