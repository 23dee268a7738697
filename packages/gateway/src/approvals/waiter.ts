import type { Clock } from '@unfold-mcp/client'

/** Lets a call wait for the answer to its question. A wake-up is not lost if nobody waits at that moment. */
export class Waiter {
  #isWoken = false
  #resolve: (() => void) | undefined

  readonly wake = (): void => {
    this.#isWoken = true
    this.#resolve?.()
  }

  /** Resolves when woken, after `ms`, or when `signal` is aborted. */
  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isWoken && !signal.aborted)
      await new Promise<void>((resolve) => {
        const done = (): void => {
          cancel()
          signal.removeEventListener('abort', done)
          resolve()
        }
        const cancel = clock.after(Math.max(1, ms), done)
        signal.addEventListener('abort', done)
        this.#resolve = done
      })
    this.#isWoken = false
  }
}
