/** The latest of many, and never more than so many. */
export class Ring<T> {
  readonly #size: number
  #items: T[] = []

  constructor(size: number) {
    this.#size = size
  }

  push(item: T): void {
    this.#items.push(item)
    // Cut seldom, so that each one is moved only now and then.
    if (this.#items.length >= this.#size * 2) this.#items = this.#items.slice(-this.#size)
  }

  /** The last ones that match, the latest at the end. */
  last(limit: number, matches: (item: T) => boolean = () => true): readonly T[] {
    const found: T[] = []
    const from = Math.max(0, this.#items.length - this.#size)
    for (let at = this.#items.length - 1; at >= from && found.length < limit; at--) {
      const item = this.#items[at]
      if (item !== undefined && matches(item)) found.push(item)
    }
    return found.reverse()
  }
}
