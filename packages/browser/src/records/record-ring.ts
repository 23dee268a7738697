import { Ring, type RingLimits } from '@unfold-mcp/core'

/** Ring buffer of numbered records that remembers the newest dropped number. */
export class RecordRing<T extends { readonly seq: number }> extends Ring<T> {
  #lastEvicted = 0

  constructor(limits: RingLimits, sizeOf: (value: T) => number, removed?: (value: T) => void) {
    super(limits, sizeOf, (value, isEvicted) => {
      if (isEvicted) this.#lastEvicted = value.seq
      removed?.(value)
    })
  }

  /** The number of the newest record dropped because of the limits; 0 if there is none. */
  get lastEvicted(): number {
    return this.#lastEvicted
  }

  /** Newest first, starting before the number `before`. */
  override *backwards(before = Number.POSITIVE_INFINITY): Generator<T> {
    for (const value of super.backwards()) if (value.seq < before) yield value
  }
}
