import type { Clock } from '@unfold-mcp/client'

/** Lets a call wait for the answer to its question. A wake-up is not lost if nobody waits at that moment. */
class Waiter {
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

/** Waiting calls by key. */
export class Waiters {
  readonly #waiters = new Map<string, readonly Waiter[]>()

  add(key: string): Waiter {
    const waiter = new Waiter()
    this.#waiters.set(key, [...(this.#waiters.get(key) ?? []), waiter])
    return waiter
  }

  remove(key: string, waiter: Waiter): void {
    const others = (this.#waiters.get(key) ?? []).filter((each) => each !== waiter)
    if (others.length > 0) this.#waiters.set(key, others)
    else this.#waiters.delete(key)
  }

  count(key: string): number {
    return this.#waiters.get(key)?.length ?? 0
  }

  /** Wakes the newest first: a host that gave up on a call and repeated it does not read the result of the first. */
  wake(key: string): void {
    for (const waiter of (this.#waiters.get(key) ?? []).toReversed()) waiter.wake()
  }

  wakeAll(): void {
    for (const key of this.#waiters.keys()) this.wake(key)
  }
}
