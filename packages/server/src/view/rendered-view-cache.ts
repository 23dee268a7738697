import type { RenderedView } from './rendered-view.ts'

/** The most recently used views, as many as together list no more than so many tools: each keeps its list encoded. */
export class RenderedViewCache {
  readonly #limit: number
  readonly #kept = new Map<string, RenderedView>()
  #tools = 0

  constructor(limit = 100_000) {
    this.#limit = limit
  }

  get(key: string): RenderedView | undefined {
    const found = this.#kept.get(key)
    if (found === undefined) return undefined
    this.#kept.delete(key)
    this.#kept.set(key, found)
    return found
  }

  set(key: string, shown: RenderedView): void {
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
const weight = (shown: RenderedView): number => shown.tools.length + 10
