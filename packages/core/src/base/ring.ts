/** Limits of a ring buffer. The oldest values are dropped first; the newest stays, whatever its size. */
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

  /** `removed` is called for each value dropped by the limits or by `clear`. */
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

  /** Number of values pushed so far. */
  get pushed(): number {
    return this.#pushed
  }

  /** Number of values dropped because of the limits. */
  get evicted(): number {
    return this.#evicted
  }

  get newest(): T | undefined {
    return this.#length === 0 ? undefined : this.#at(this.#length - 1)
  }

  push(value: T): void {
    const size = this.#sizeOf(value)
    // A value larger than the limit must not evict itself.
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

  /** Replaces each value. */
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

  /** Removes all values; they do not count as evicted. */
  clear(): void {
    while (this.#length > 0) this.#shift(false)
    this.#values = []
    this.#sizes = []
    this.#start = 0
  }

  /** Oldest first. */
  *[Symbol.iterator](): Generator<T> {
    for (let i = 0; i < this.#length; i++) yield this.#at(i)
  }

  /** Newest first. */
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
