/** When a request was sent and its reply arrived, in monotonic milliseconds. */
interface RoundTrip {
  readonly sentAt: number
  readonly receivedAt: number
}

/**
 * Estimates the clock of Redis from its replies. Redis may execute a command long after it was sent, and the wall clock of this
 * machine may be wrong.
 */
export class RedisClock {
  /** Bounds of the difference to the monotonic clock. */
  #bounds: readonly [low: number, high: number] | undefined

  /** Notes a time in whole milliseconds that Redis replied with. */
  observe(time: number, { sentAt, receivedAt }: RoundTrip): void {
    const [low, high] = [time - receivedAt, time + 1 - sentAt]
    const [oldLow, oldHigh] = this.#bounds ?? [low, high]
    // Another server, or one whose clock was set.
    const isOther = low > oldHigh || high < oldLow
    this.#bounds = isOther ? [low, high] : [Math.max(low, oldLow), Math.min(high, oldHigh)]
  }

  /** The time at a monotonic time; `undefined` before the first reply. */
  at(monotonicMs: number): number | undefined {
    return this.#bounds === undefined ? undefined : monotonicMs + (this.#bounds[0] + this.#bounds[1]) / 2
  }
}
