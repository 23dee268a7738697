import { setImmediate as nextTick } from 'node:timers/promises'
import { startStopwatch } from './stopwatch.ts'

// Yields to calls after this time.
const sliceMs = 8

/** Divides work into slices, so that calls are handled in between, and reports the time of each. */
export class Slices {
  readonly #spent: (ms: number) => void
  #startedAt = performance.now()
  #stopwatch = startStopwatch()

  constructor(spent: (ms: number) => void) {
    this.#spent = spent
  }

  /** Lets other work run if this slice took long enough. */
  async next(): Promise<void> {
    if (performance.now() - this.#startedAt < sliceMs) return
    this.end()
    await nextTick()
    this.#startedAt = performance.now()
    this.#stopwatch = startStopwatch()
  }

  end(): void {
    this.#spent(this.#stopwatch())
  }
}
