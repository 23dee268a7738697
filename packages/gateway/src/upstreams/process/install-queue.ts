import type { Clock } from '@unfold-mcp/client'

// Each takes a connection to a registry, a disk and a processor; more at once are not faster, and all late.
const atOnce = 2
// One that is slow, or waits for something else, such as a person who signs in, does not hold up the others any longer.
const maxMs = 60_000

/** An installation that wants to begin. */
export interface InstallRequest {
  /** What it is kept in: no two of the same are installed at once, as they would overwrite each other. Empty when not known. */
  readonly place: string
  readonly isAwaited: () => boolean
  /** Called when it has to wait for its turn. */
  readonly queued: () => void
  readonly signal?: AbortSignal | undefined
}

interface Waiter extends InstallRequest {
  readonly go: (leave: () => void) => void
}

/** Lets launchers such as `npx` install a few servers at a time; those that somebody waits for come first. */
export class InstallQueue {
  readonly #clock: Clock
  readonly #line: Waiter[] = []
  /** Those that run, with whether they still take a place. */
  readonly #running = new Map<object, { readonly place: string; isSlow: boolean }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when it may begin, with what ends its turn. Rejects when it is called off before. */
  enter(installing: InstallRequest): Promise<() => void> {
    const { signal, queued } = installing
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason)
        return
      }
      const abort = (): void => {
        this.#line.splice(this.#line.indexOf(waiter), 1)
        reject(signal?.reason)
      }
      const waiter: Waiter = {
        ...installing,
        go: (leave) => {
          signal?.removeEventListener('abort', abort)
          resolve(leave)
        },
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#line.push(waiter)
      this.review()
      if (this.#line.includes(waiter)) queued()
    })
  }

  /** Lets those begin whose turn it is now. */
  review(): void {
    for (;;) {
      const taken = [...this.#running.values()].filter(({ isSlow }) => !isSlow).length
      if (taken >= atOnce) return
      const ready = this.#line.filter(
        ({ place }) => place === '' || ![...this.#running.values()].some((each) => each.place === place),
      )
      const next = ready.find(({ isAwaited }) => isAwaited()) ?? ready[0]
      if (next === undefined) return
      this.#line.splice(this.#line.indexOf(next), 1)
      next.go(this.#begin(next))
    }
  }

  #begin({ place }: Waiter): () => void {
    const run = { place, isSlow: false }
    this.#running.set(run, run)
    const slow = (): void => {
      run.isSlow = true
      this.review()
    }
    const stopTimer = this.#clock.after(maxMs, slow, true)
    return () => {
      stopTimer()
      if (this.#running.delete(run)) this.review()
    }
  }
}
