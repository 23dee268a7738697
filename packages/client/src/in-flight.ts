/**
 * What is under way, of which there is little at any time and much in the course of time. A `Set` would do the same, but each
 * time it makes room it leaves a table behind that holds on to what was in it, until the next full garbage collection.
 */
export class InFlight<T> {
  readonly #items: T[] = []

  get size(): number {
    return this.#items.length
  }

  /** All of it, in no order. */
  get items(): readonly T[] {
    return [...this.#items]
  }

  has(item: T): boolean {
    return this.#items.includes(item)
  }

  find(matches: (item: T) => boolean): T | undefined {
    return this.#items.find(matches)
  }

  add(item: T): void {
    this.#items.push(item)
  }

  /** Whether it was there. */
  delete(item: T): boolean {
    const at = this.#items.indexOf(item)
    if (at === -1) return false
    const last = this.#items.pop()
    if (at < this.#items.length && last !== undefined) this.#items[at] = last
    return true
  }
}
