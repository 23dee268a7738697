import type { Clock } from '@unfold-mcp/client'
import { startStopwatch } from '../../base/stopwatch.ts'

/** Why a server is read less often than it changes. */
export interface Slowdown {
  /** Event-loop time that one refresh takes: reading, comparing, checking and announcing its lists. */
  readonly costMs: number
  /** Minimum time between two refreshes. */
  readonly delayMs: number
}

export interface FollowBudgetOptions {
  readonly clock: Clock
  /** Called when refreshes begin to be delayed, once until the server has been calm. */
  readonly slowed: (slowdown: Slowdown) => void
  /** Starts to measure; default: time spent on the event loop. */
  readonly startStopwatch?: () => () => number
}

// Following one server takes at most a tenth of the event loop: after a cost, it rests nine times as long.
const restFactor = 9
// Rest that may be outstanding when a refresh starts: a burst of cheap changes is followed at once.
const toleratedMs = 1_000
// A machine that was suspended during a refresh must not stop following.
const maxDelayMs = 300_000
// A server that was not delayed for this long is calm.
const calmMs = 60_000

/**
 * Limits the share of the event loop that following one server takes. The refreshers of its tools, prompts and resources share it,
 * and it outlives connections. Nothing is skipped: a refresh starts later and then reads the newest list.
 */
export class FollowBudget {
  readonly #options: FollowBudgetOptions
  /** When the rest for everything charged so far ends. */
  #restsUntil = Number.NEGATIVE_INFINITY
  /** Since the last refresh started. */
  #costMs = 0
  #slowdown: (Slowdown & { readonly at: number }) | undefined

  constructor(options: FollowBudgetOptions) {
    this.#options = options
  }

  /** Time until the next refresh may start; 0 if it may start now. */
  get waitMs(): number {
    return Math.max(0, this.#restsUntil - toleratedMs - this.#options.clock.now())
  }

  /** The slowdown, until no refresh was delayed for a minute. */
  get slowdown(): Slowdown | undefined {
    const slowdown = this.#slowdown
    if (slowdown === undefined) return undefined
    // The rest for the last refresh may be longer than the calm period.
    const restMs = Math.min(this.#costMs * restFactor, maxDelayMs)
    if (this.#options.clock.now() - slowdown.at - restMs > calmMs) return undefined
    const { costMs, delayMs } = slowdown
    return { costMs, delayMs }
  }

  /** Adds time that was spent on following the server. */
  charge(ms: number): void {
    if (!(ms > 0)) return
    const now = this.#options.clock.now()
    this.#costMs += ms
    this.#restsUntil = Math.min(now + maxDelayMs, Math.max(now, this.#restsUntil) + ms * restFactor)
  }

  /** Runs `work` and charges the time it takes. */
  measure<T>(work: () => T): T {
    const spent = (this.#options.startStopwatch ?? startStopwatch)()
    try {
      return work()
    } finally {
      this.charge(spent())
    }
  }

  /** A refresh starts. `isDelayed`: it had to wait for this budget. */
  started(isDelayed: boolean): void {
    const wasSlowed = this.slowdown !== undefined
    const costMs = Math.round(this.#costMs)
    this.#costMs = 0
    if (!isDelayed) return
    this.#slowdown = { costMs, delayMs: costMs * restFactor, at: this.#options.clock.now() }
    if (!wasSlowed) this.#options.slowed({ costMs, delayMs: costMs * restFactor })
  }
}
