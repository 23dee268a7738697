import type { Clock } from '@unfold-mcp/client'

/** Timers by what they are for: one of each, and one that is set again begins anew. */
export class Timers<Name extends string> {
  readonly #clock: Clock
  readonly #running = new Map<Name, () => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isSet(name: Name): boolean {
    return this.#running.has(name)
  }

  /** Calls `work` after so many milliseconds. What waits keeps no process liveConnection when `isIdle` is true. */
  set(name: Name, { ms, isIdle, work }: { readonly ms: number; readonly isIdle: boolean; readonly work: () => void }): void {
    this.stop(name)
    const due = (): void => {
      this.#running.delete(name)
      work()
    }
    this.#running.set(name, this.#clock.after(ms, due, isIdle))
  }

  stop(...names: readonly Name[]): void {
    for (const name of names) {
      this.#running.get(name)?.()
      this.#running.delete(name)
    }
  }
}
