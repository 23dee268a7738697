import type { RenderedView } from './rendered-view.ts'

/** A cache of the most recently used views, limited by the number of tools in them because each keeps its encoded list. */
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

  set(key: string, view: RenderedView): void {
    this.#kept.set(key, view)
    this.#tools += weight(view)
    for (const [oldest, other] of this.#kept) {
      if (this.#tools <= this.#limit || other === view) return
      this.#kept.delete(oldest)
      this.#tools -= weight(other)
    }
  }
}

// An empty view also takes memory.
const weight = (view: RenderedView): number => view.tools.length + 10
