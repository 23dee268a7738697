import { setImmediate as nextTick } from 'node:timers/promises'
import { startStopwatch } from './stopwatch.ts'

// Yields to calls after this time.
const sliceMs = 8

/** Divides work into slices, so that calls are handled in between, and reports the time of each if requested. */
export class Slices {
  readonly #spent: ((ms: number) => void) | undefined
  #startedAt = performance.now()
  #stopwatch: (() => number) | undefined

  constructor(spent?: (ms: number) => void) {
    this.#spent = spent
    if (spent !== undefined) this.#stopwatch = startStopwatch()
  }

  /** Lets other work run if this slice took long enough. */
  async next(): Promise<void> {
    if (performance.now() - this.#startedAt < sliceMs) return
    this.end()
    await nextTick()
    this.#startedAt = performance.now()
    if (this.#spent !== undefined) this.#stopwatch = startStopwatch()
  }

  end(): void {
    if (this.#stopwatch !== undefined) this.#spent?.(this.#stopwatch())
  }
}
