/** The latest of many, and never more than so many. */
export class Ring<T> {
  readonly #size: number
  readonly #items: T[] = []
  /** Where the next one goes; the oldest is there once it is full. */
  #at = 0

  constructor(size: number) {
    this.#size = size
  }

  push(item: T): void {
    this.#items[this.#at] = item
    this.#at = (this.#at + 1) % this.#size
  }

  /** The last ones that match, the latest at the end. */
  last(limit: number, matches: (item: T) => boolean = () => true): readonly T[] {
    const found: T[] = []
    const { length } = this.#items
    for (let back = 1; back <= length && found.length < limit; back++) {
      const item = this.#items[(this.#at - back + length) % length]
      if (item !== undefined && matches(item)) found.push(item)
    }
    return found.reverse()
  }
}
