export interface FlowOptions {
  /** How much passes at once. */
  readonly most: number
  /** How much more passes with every `everyMs`. */
  readonly more: number
  readonly everyMs: number
  readonly now?: () => number
}

/** Lets so much pass and no more, so that whoever talks without end keeps nobody busy. Options that change hold from then on. */
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
    const { most, more, everyMs } = this.#options
    const now = this.#now()
    this.#left = Math.min(most, this.#left + ((now - this.#at) * more) / everyMs)
    this.#at = now
    if (amount > this.#left) return false
    this.#left -= amount
    return true
  }

  /** How long after it was last asked this much may pass. */
  msUntil(amount: number): number {
    const { more, everyMs } = this.#options
    return Math.max(0, Math.ceil(((amount - this.#left) * everyMs) / more))
  }
}
