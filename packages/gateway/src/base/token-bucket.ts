export interface TokenBucketOptions {
  /** How much passes at once. */
  readonly capacity: number
  /** How much refill passes with every `everyMs`. */
  readonly refill: number
  readonly everyMs: number
  readonly now?: () => number
}

/** Lets so much pass and no refill, so that whoever talks without end keeps nobody busy. Options that change hold from then on. */
export class TokenBucket {
  readonly #options: TokenBucketOptions
  readonly #now: () => number
  #left: number
  #at: number

  constructor(options: TokenBucketOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#left = options.capacity
    this.#at = this.#now()
  }

  /** Whether this much may pass; then it is counted. */
  tryTake(amount: number): boolean {
    const { capacity, refill, everyMs } = this.#options
    const now = this.#now()
    this.#left = Math.min(capacity, this.#left + ((now - this.#at) * refill) / everyMs)
    this.#at = now
    if (amount > this.#left) return false
    this.#left -= amount
    return true
  }

  /** How long after it was last asked this much may pass. */
  msUntil(amount: number): number {
    const { refill, everyMs } = this.#options
    return Math.max(0, Math.ceil(((amount - this.#left) * everyMs) / refill))
  }
}
