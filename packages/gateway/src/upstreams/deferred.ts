import type { Clock } from '@unfold-mcp/client'

interface Waiter<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: Error) => void
}

export interface Wait {
  readonly ms: number
  readonly signal?: AbortSignal | undefined
  readonly late: () => Error
  readonly cancelled: () => Error
}

/** Those who wait for something that is about to come. */
export class Deferred<T> {
  readonly #clock: Clock
  readonly #waiters = new Set<Waiter<T>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether anybody waits. */
  get isAwaited(): boolean {
    return this.#waiters.size > 0
  }

  /** Waits for it, but not for ever. */
  join({ ms, signal, late, cancelled }: Wait): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        this.#waiters.delete(waiter)
        stopTimer()
        signal?.removeEventListener('abort', abort)
      }
      const waiter: Waiter<T> = {
        resolve: (value) => {
          done()
          resolve(value)
        },
        reject: (error) => {
          done()
          reject(error)
        },
      }
      const abort = (): void => waiter.reject(cancelled())
      const stopTimer = this.#clock.after(ms, () => waiter.reject(late()))
      signal?.addEventListener('abort', abort)
      this.#waiters.add(waiter)
      if (signal?.aborted === true) abort()
    })
  }

  /** It is there. */
  resolve(value: T): void {
    for (const waiter of [...this.#waiters]) waiter.resolve(value)
  }

  /** It will not come soon. */
  reject(error: Error): void {
    for (const waiter of [...this.#waiters]) waiter.reject(error)
  }
}
