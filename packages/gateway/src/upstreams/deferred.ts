import type { Clock } from '@unfold-mcp/client'

interface Waiter<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: Error) => void
}

export interface Wait {
  readonly ms: number
  readonly signal?: AbortSignal | undefined
  readonly timedOut: () => Error
  readonly cancelled: () => Error
}

/** A value that several callers wait for, each with its own timeout. */
export class Deferred<T> {
  readonly #clock: Clock
  readonly #waiters = new Set<Waiter<T>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isAwaited(): boolean {
    return this.#waiters.size > 0
  }

  wait({ ms, signal, timedOut, cancelled }: Wait): Promise<T> {
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
      const stopTimer = this.#clock.after(ms, () => waiter.reject(timedOut()))
      signal?.addEventListener('abort', abort)
      this.#waiters.add(waiter)
      if (signal?.aborted === true) abort()
    })
  }

  resolve(value: T): void {
    for (const waiter of [...this.#waiters]) waiter.resolve(value)
  }

  reject(error: Error): void {
    for (const waiter of [...this.#waiters]) waiter.reject(error)
  }
}
