import type { Clock } from '@unfold-mcp/client'

// Installations share network, disk and CPU, so more at once are not faster.
const maxConcurrent = 2
// After this time an installation (which may wait for a sign-in) no longer blocks others.
const slowAfterMs = 60_000

export interface InstallRequest {
  /** Installation folder, or empty if unknown. Installations into the same folder are serialised. */
  readonly folder: string
  readonly isAwaited: () => boolean
  readonly queued: () => void
  readonly signal?: AbortSignal | undefined
}

interface Waiter extends InstallRequest {
  readonly start: (release: () => void) => void
}

/** Limits concurrent installations by launchers such as `npx`. Awaited servers come first. */
export class InstallQueue {
  readonly #clock: Clock
  readonly #queue: Waiter[] = []
  /** Running installations. Slow ones do not count against the limit. */
  readonly #running = new Map<object, { readonly folder: string; isSlow: boolean }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves with a release function when the installation may start. Rejects if it is aborted before. */
  enter(installing: InstallRequest): Promise<() => void> {
    const { signal, queued } = installing
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason)
        return
      }
      const abort = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiter), 1)
        reject(signal?.reason)
      }
      const waiter: Waiter = {
        ...installing,
        start: (release) => {
          signal?.removeEventListener('abort', abort)
          resolve(release)
        },
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#queue.push(waiter)
      this.review()
      if (this.#queue.includes(waiter)) queued()
    })
  }

  /** Starts queued installations that may run now. */
  review(): void {
    for (;;) {
      const active = [...this.#running.values()].filter(({ isSlow }) => !isSlow).length
      if (active >= maxConcurrent) return
      const ready = this.#queue.filter(
        ({ folder }) => folder === '' || ![...this.#running.values()].some((each) => each.folder === folder),
      )
      const next = ready.find(({ isAwaited }) => isAwaited()) ?? ready[0]
      if (next === undefined) return
      this.#queue.splice(this.#queue.indexOf(next), 1)
      next.start(this.#begin(next))
    }
  }

  #begin({ folder }: Waiter): () => void {
    const run = { folder, isSlow: false }
    this.#running.set(run, run)
    const slow = (): void => {
      run.isSlow = true
      this.review()
    }
    const stopTimer = this.#clock.after(slowAfterMs, slow, true)
    return () => {
      stopTimer()
      if (this.#running.delete(run)) this.review()
    }
  }
}
