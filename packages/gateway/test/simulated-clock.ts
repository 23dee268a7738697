import type { Clock } from '@unfold-mcp/client'

interface Timer {
  readonly at: number
  readonly order: number
  readonly work: () => void
}

const mostSteps = 20_000
const turns = 8

/** A clock that advances when a test says so, as fast as possible. */
export class SimulatedClock implements Clock {
  #now = 0
  #order = 0
  readonly #timers = new Set<Timer>()

  now(): number {
    return this.#now
  }

  wallTime(): number {
    return this.#now
  }

  after(ms: number, work: () => void): () => void {
    const timer: Timer = { at: this.#now + Math.max(0, ms), order: this.#order++, work }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Advances to `until`, or until no timer is left. Throws if that never ends. */
  async run(until = Number.POSITIVE_INFINITY): Promise<void> {
    await settled()
    for (let step = 0; ; step++) {
      const next = this.#next()
      if (next === undefined || next.at > until) break
      if (step > mostSteps) throw new Error(`Timers never end: the clock is at ${this.#now} ms.`)
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.work()
      await settled()
    }
    if (Number.isFinite(until)) this.#now = until
  }

  #next(): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers)
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer
    return first
  }
}

/** Lets pending promise callbacks run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve()
}
