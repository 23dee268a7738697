import type { Clock } from '@unfold-mcp/client'

/** Named timers; setting one again restarts it. */
export class Timers<Name extends string> {
  readonly #clock: Clock
  readonly #running = new Map<Name, () => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isSet(name: Name): boolean {
    return this.#running.has(name)
  }

  /** Calls `work` after `ms`. With `isIdle`, the timer does not keep the process running. */
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
