import type { Clock } from '../time/clock.ts'
import type { Exchange } from './exchange.ts'

// Closing a stream closes its connection; most servers end the stream themselves, and the connection can be used again.
const lingerMs = 500
const maxOpen = 32

/** Response streams that are still open after the response. Each is closed after a moment, and the oldest at once if there are many. */
export class AnsweredStreams {
  readonly #clock: Clock
  /** With the time of the response, oldest first. */
  readonly #open = new Map<Exchange, number>()
  #stopTimer: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(exchange: Exchange): void {
    this.#open.set(exchange, this.#clock.now())
    if (this.#open.size > maxOpen) this.#closeUntil(({ count }) => count <= maxOpen)
    this.#schedule(lingerMs)
  }

  /** The server has ended the stream. */
  delete(exchange: Exchange): void {
    this.#open.delete(exchange)
  }

  close(): void {
    this.#stopTimer?.()
    this.#closeUntil(() => false)
  }

  // One timer for all streams, because most of them end before it fires.
  #schedule(ms: number): void {
    this.#stopTimer ??= this.#clock.after(
      ms,
      () => {
        this.#stopTimer = undefined
        const now = this.#clock.now()
        this.#closeUntil(({ since }) => now - since < lingerMs)
        const [oldest] = this.#open.values()
        if (oldest !== undefined) this.#schedule(oldest + lingerMs - now)
      },
      true,
    )
  }

  #closeUntil(isEnough: (oldest: { readonly since: number; readonly count: number }) => boolean): void {
    for (const [exchange, since] of this.#open) {
      if (isEnough({ since, count: this.#open.size })) return
      this.#open.delete(exchange)
      exchange.close()
    }
  }
}
