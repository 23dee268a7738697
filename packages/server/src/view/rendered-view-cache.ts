import type { Shown } from './rendered-view.ts'

/** The most recently used views, as many as together list no more than so many tools: each keeps its list encoded. */
export class ShownCache {
  readonly #limit: number
  readonly #kept = new Map<string, Shown>()
  #tools = 0

  constructor(limit = 100_000) {
    this.#limit = limit
  }

  get(key: string): Shown | undefined {
    const found = this.#kept.get(key)
    if (found === undefined) return undefined
    this.#kept.delete(key)
    this.#kept.set(key, found)
    return found
  }

  set(key: string, shown: Shown): void {
    this.#kept.set(key, shown)
    this.#tools += weight(shown)
    for (const [oldest, other] of this.#kept) {
      if (this.#tools <= this.#limit || other === shown) return
      this.#kept.delete(oldest)
      this.#tools -= weight(other)
    }
  }
}

// A view that lists nothing costs something too.
const weight = (shown: Shown): number => shown.tools.length + 10
