interface FlowOptions {
  /** How much passes at once. */
  readonly most: number
  /** How much more passes with every second. */
  readonly perSecond: number
  readonly now?: () => number
}

/** Lets so much pass and no more, so that whoever talks without end keeps nobody busy. */
export class Flow {
  readonly #options: FlowOptions
  readonly #now: () => number
  #left: number
  #at: number

  constructor(options: FlowOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#left = options.most
    this.#at = this.#now()
  }

  /** Whether this much may pass; then it is counted. */
  lets(amount: number): boolean {
    const { most, perSecond } = this.#options
    const now = this.#now()
    this.#left = Math.min(most, this.#left + ((now - this.#at) / 1_000) * perSecond)
    this.#at = now
    if (amount > this.#left) return false
    this.#left -= amount
    return true
  }
}
