/** How much a ring buffer keeps. The oldest is dropped first when either is reached; the newest stays, however large. */
export interface RingLimits {
  readonly entries: number
  /** Default: no limit. */
  readonly bytes?: number
}

/** Ring buffer: the newest values in order. Dropped values are counted. */
export class Ring<T> {
  #limits: Required<RingLimits>
  readonly #sizeOf: (value: T) => number
  readonly #removed: (value: T, isEvicted: boolean) => void
  #values: (T | undefined)[]
  #sizes: number[] = []
  #start = 0
  #length = 0
  #bytes = 0
  #pushed = 0
  #evicted = 0

  /** `removed` is called for each value that leaves, whether the limits or `clear` made it leave. */
  constructor(
    limits: RingLimits,
    sizeOf: (value: T) => number = () => 0,
    removed: (value: T, isEvicted: boolean) => void = () => undefined,
  ) {
    this.#limits = { bytes: Number.POSITIVE_INFINITY, ...limits }
    this.#sizeOf = sizeOf
    this.#removed = removed
    this.#values = []
  }

  get length(): number {
    return this.#length
  }

  get bytes(): number {
    return this.#bytes
  }

  get limits(): Required<RingLimits> {
    return this.#limits
  }

  /** How many there were so far, whether they are still here or not. */
  get pushed(): number {
    return this.#pushed
  }

  /** How many had to go so far because of the limits. */
  get evicted(): number {
    return this.#evicted
  }

  get newest(): T | undefined {
    return this.#length === 0 ? undefined : this.#at(this.#length - 1)
  }

  push(value: T): void {
    const size = this.#sizeOf(value)
    // One that is larger than all that may be kept would push out everything and then itself.
    while (this.#length > 0 && (this.#length >= this.#limits.entries || this.#bytes + size > this.#limits.bytes)) this.#evict()
    const capacity = this.#values.length
    if (this.#length === capacity) this.#grow()
    const index = (this.#start + this.#length) % this.#values.length
    this.#values[index] = value
    this.#sizes[index] = size
    this.#length += 1
    this.#pushed += 1
    this.#bytes += size
  }

  /** Applies other limits at once. */
  limit(limits: RingLimits): void {
    const { entries, bytes = Number.POSITIVE_INFINITY } = limits
    this.#limits = { entries, bytes }
    while (this.#length > 0 && (this.#length > entries || this.#bytes > bytes)) this.#evict()
  }

  /** Puts something else in the place of each value. */
  replace(change: (value: T) => T): void {
    for (let i = 0; i < this.#length; i++) {
      const index = (this.#start + i) % this.#values.length
      const value = change(this.#at(i))
      const size = this.#sizeOf(value)
      this.#bytes += size - (this.#sizes[index] ?? 0)
      this.#values[index] = value
      this.#sizes[index] = size
    }
    this.limit(this.#limits)
  }

  /** Forgets everything; none of it counts as evicted. */
  clear(): void {
    while (this.#length > 0) this.#shift(false)
    this.#values = []
    this.#sizes = []
    this.#start = 0
  }

  /** From the oldest to the newest. */
  *[Symbol.iterator](): Generator<T> {
    for (let i = 0; i < this.#length; i++) yield this.#at(i)
  }

  /** From the newest to the oldest. */
  *backwards(): Generator<T> {
    for (let i = this.#length - 1; i >= 0; i--) yield this.#at(i)
  }

  /** Returns the newest values that match, in order, at most `limit` of them. */
  last(limit: number, matches: (value: T) => boolean = () => true): readonly T[] {
    const found: T[] = []
    for (let i = this.#length - 1; i >= 0 && found.length < limit; i--) {
      const value = this.#at(i)
      if (matches(value)) found.push(value)
    }
    return found.reverse()
  }

  #at(index: number): T {
    return this.#values[(this.#start + index) % this.#values.length] as T
  }

  #evict(): void {
    this.#evicted += 1
    this.#shift(true)
  }

  #shift(isEvicted: boolean): void {
    const value = this.#values[this.#start] as T
    this.#bytes -= this.#sizes[this.#start] ?? 0
    this.#values[this.#start] = undefined
    this.#start = (this.#start + 1) % this.#values.length
    this.#length -= 1
    this.#removed(value, isEvicted)
  }

  #grow(): void {
    const kept = [...this]
    const sizes = kept.map((_, i) => this.#sizes[(this.#start + i) % this.#values.length] ?? 0)
    const capacity = Math.min(Math.max(16, this.#values.length * 2), Math.max(1, this.#limits.entries))
    const length = Math.max(capacity, kept.length + 1)
    this.#values = Array.from({ length }, (_, i) => kept[i])
    this.#sizes = Array.from({ length }, (_, i) => sizes[i] ?? 0)
    this.#start = 0
  }
}
