import type { Clock } from '../time/clock.ts'
import { retryAfterMs } from './retry-after.ts'

/** State of the notification stream of a session-era server. */
export type PushStream = 'open' | 'none' | 'unknown'

// Delays before it is opened again.
export const retryMs = { min: 100, first: 250, max: 5_000 }
// A stream that breaks sooner does not reset the delay.
const steadyMs = 5_000

/** Notification stream of a session-era server: whether it is open, and when it is opened again. */
export class NotificationStream {
  readonly #clock: Clock
  readonly #retries = new Set<() => void>()
  #state: PushStream = 'unknown'
  #openedAt = Number.NEGATIVE_INFINITY
  /** Times that it broke soon after it was opened, or could not be opened. */
  #breaks = 0
  #retryAfterMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get state(): PushStream {
    return this.#state
  }

  /** Records the response to the request for the stream. Returns whether it is open. */
  receive(response: Response): boolean {
    const { ok } = response
    this.#retryAfterMs = ok ? 0 : (retryAfterMs(response, this.#clock.wallTime()) ?? 0)
    this.#state = ok ? 'open' : 'none'
    if (ok) this.#openedAt = this.#clock.now()
    return ok
  }

  /** Opens it again after `delay` or later. Returns a function that cancels this. */
  reopen(open: () => void, delay: number): () => void {
    const isSteady = this.#clock.now() - this.#openedAt > steadyMs && this.#state === 'open'
    this.#breaks = isSteady ? 0 : this.#breaks + 1
    const backoff = this.#breaks === 0 ? retryMs.min : Math.min(retryMs.max, retryMs.first * 2 ** Math.min(this.#breaks - 1, 10))
    // No notifications arrive until it is open again.
    this.#state = 'unknown'
    const off = this.#clock.after(Math.max(delay, backoff, this.#retryAfterMs), () => {
      this.#retries.delete(off)
      open()
    })
    this.#retries.add(off)
    return off
  }

  close(): void {
    for (const cancel of this.#retries) cancel()
    this.#retries.clear()
  }
}
