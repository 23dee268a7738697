/** Maximum concurrency and queue length. */
export interface SemaphoreLimits {
  readonly concurrency: number
  /** Default: no limit. */
  readonly queue?: number
}

/** Minimal `AbortSignal`; `core` is compiled without the types of Node and browsers. */
interface Signal {
  readonly aborted: boolean
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Limits concurrency. Others wait in order, and are rejected when the queue is full. */
export class Semaphore {
  readonly #limits: () => SemaphoreLimits
  readonly #queue: (() => void)[] = []
  #running = 0

  /** `limits` is read on each use, so that configuration changes apply. */
  constructor(limits: () => SemaphoreLimits) {
    this.#limits = limits
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** Resolves with the function that releases; at once with `undefined` when the queue is full. Rejects when aborted. */
  async acquire(signal?: Signal): Promise<(() => void) | undefined> {
    signal?.throwIfAborted()
    const { concurrency, queue = Number.POSITIVE_INFINITY } = this.#limits()
    if (this.#running < concurrency) this.#running++
    else if (this.#queue.length >= queue) return undefined
    else await this.#wait(signal)
    return this.#release()
  }

  /** Returns the function that releases, or `undefined` if that would mean waiting. */
  tryAcquire(signal?: Signal): (() => void) | undefined {
    if (signal?.aborted === true || this.#running >= this.#limits().concurrency) return undefined
    this.#running++
    return this.#release()
  }

  #release(): () => void {
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#next()
    }
  }

  #wait(signal: Signal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const off = (): void => signal?.removeEventListener('abort', abort)
      const go = (): void => {
        off()
        resolve()
      }
      const abort = (): void => {
        off()
        this.#queue.splice(this.#queue.indexOf(go), 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort)
      this.#queue.push(go)
    })
  }

  #next(): void {
    this.#running--
    const { concurrency } = this.#limits()
    // Starts several when the limit was raised.
    while (this.#running < concurrency) {
      const next = this.#queue.shift()
      if (next === undefined) return
      this.#running++
      next()
    }
  }
}
