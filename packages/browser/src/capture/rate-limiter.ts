/** Limits per second. */
export interface Rate {
  readonly count: number
  readonly bytes: number
}

const windowMs = 1_000

/** Limits events per second and counts the dropped ones. */
export class RateLimiter {
  readonly #rate: Rate
  readonly #now: () => number
  #since = Number.NEGATIVE_INFINITY
  #count = 0
  #bytes = 0
  #shut = 0

  constructor(rate: Rate, now: () => number) {
    this.#rate = rate
    this.#now = now
  }

  passes(bytes: number): boolean {
    const now = this.#now()
    if (now - this.#since >= windowMs || now < this.#since) {
      this.#since = now
      this.#count = 0
      this.#bytes = 0
    }
    // A single event may exceed the rate, or it could never pass.
    if (this.#count >= this.#rate.count || (this.#count > 0 && this.#bytes + bytes > this.#rate.bytes)) {
      this.#shut += 1
      return false
    }
    this.#count += 1
    this.#bytes += bytes
    return true
  }

  /** Returns the number of events dropped since the last call. */
  takeShut(): number {
    const shut = this.#shut
    this.#shut = 0
    return shut
  }
}
