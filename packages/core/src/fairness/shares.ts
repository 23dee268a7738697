/**
 * Path of a holder, outermost first, such as an address and a session. Shares apply to every prefix; an empty path is limited only
 * by the total.
 */
export type SharePath = readonly string[]

/** A holder may have up to this many times what is left. Alone it gets three quarters of the limit; more holders get less each. */
const timesFree = 3

/**
 * Divides a limit between holders. Nobody can take everything: as long as something is left, a holder that has nothing yet gets at
 * least one.
 */
export class Shares {
  readonly #limit: () => number
  readonly #held = new Map<string, number>()
  #total = 0

  /** `limit` is read on each use, so that configuration changes apply. */
  constructor(limit: () => number) {
    this.#limit = limit
  }

  get limit(): number {
    return this.#limit()
  }

  get total(): number {
    return this.#total
  }

  get isFull(): boolean {
    return this.#total >= this.#limit()
  }

  held(path: SharePath): number {
    return this.#held.get(keyOf(path, path.length)) ?? 0
  }

  hasRoom(path: SharePath): boolean {
    const free = this.#limit() - this.#total
    if (free <= 0) return false
    for (let depth = 1; depth <= path.length; depth++)
      if ((this.#held.get(keyOf(path, depth)) ?? 0) >= timesFree * free) return false
    return true
  }

  /**
   * Takes one and returns the function that gives it back, or `undefined` if the limit or the share is used up. `onReturn` runs when
   * it was given back.
   */
  take(path: SharePath, onReturn?: () => void): (() => void) | undefined {
    if (!this.hasRoom(path)) return undefined
    this.#count(path, 1)
    let isReturned = false
    return () => {
      if (isReturned) return
      isReturned = true
      this.#count(path, -1)
      onReturn?.()
    }
  }

  #count(path: SharePath, change: 1 | -1): void {
    this.#total += change
    for (let depth = 1; depth <= path.length; depth++) {
      const key = keyOf(path, depth)
      const held = (this.#held.get(key) ?? 0) + change
      if (held > 0) this.#held.set(key, held)
      else this.#held.delete(key)
    }
  }
}

const keyOf = (path: SharePath, depth: number): string => (depth === 1 ? (path[0] ?? '') : path.slice(0, depth).join('\0'))
