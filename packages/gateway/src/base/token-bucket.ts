export interface TokenBucketOptions {
  readonly capacity: number
  /** Tokens added every `everyMs`. */
  readonly refill: number
  readonly everyMs: number
  readonly now?: () => number
}

/** Token bucket. The options are read at every call, so a changed limit takes effect immediately. */
export class TokenBucket {
  readonly #options: TokenBucketOptions
  readonly #now: () => number
  #tokens: number
  #updatedAt: number

  constructor(options: TokenBucketOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#tokens = options.capacity
    this.#updatedAt = this.#now()
  }

  /** Takes tokens if the bucket holds that many. */
  tryTake(amount: number): boolean {
    const { capacity, refill, everyMs } = this.#options
    const now = this.#now()
    this.#tokens = Math.min(capacity, this.#tokens + ((now - this.#updatedAt) * refill) / everyMs)
    this.#updatedAt = now
    if (amount > this.#tokens) return false
    this.#tokens -= amount
    return true
  }

  /** Time from the last `tryTake` until the bucket holds this many tokens. */
  msUntil(amount: number): number {
    const { refill, everyMs } = this.#options
    return Math.max(0, Math.ceil(((amount - this.#tokens) * everyMs) / refill))
  }
}
