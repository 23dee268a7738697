import { FairQueue } from './fair-queue.ts'
import { type SharePath, Shares } from './shares.ts'

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

const noPath: SharePath = []

interface Waiter {
  readonly path: SharePath
  readonly start: (release: () => void) => void
}

/**
 * Limits concurrency. Others wait, and are rejected when the queue is full. With paths, every holder has its share of the slots and
 * of the queue, and waiting holders take turns.
 */
export class Semaphore {
  readonly #running: Shares
  readonly #waiting: Shares
  readonly #queue = new FairQueue<Waiter>()

  /** `limits` is read on each use, so that configuration changes apply. */
  constructor(limits: () => SemaphoreLimits) {
    this.#running = new Shares(() => limits().concurrency)
    this.#waiting = new Shares(() => limits().queue ?? Number.POSITIVE_INFINITY)
  }

  get running(): number {
    return this.#running.total
  }

  get waiting(): number {
    return this.#waiting.total
  }

  /** Number of slots and places in the queue that a holder has. */
  held(path: SharePath): { readonly running: number; readonly waiting: number } {
    return { running: this.#running.held(path), waiting: this.#waiting.held(path) }
  }

  /** Resolves with the function that releases; at once with `undefined` when the queue is full. Rejects when aborted. */
  async acquire(signal?: Signal, path: SharePath = noPath): Promise<(() => void) | undefined> {
    signal?.throwIfAborted()
    return this.tryAcquire(signal, path) ?? this.#wait(signal, path)
  }

  /** Returns the function that releases, or `undefined` if that would mean waiting. */
  tryAcquire(signal?: Signal, path: SharePath = noPath): (() => void) | undefined {
    return signal?.aborted === true ? undefined : this.#start(path)
  }

  #start(path: SharePath): (() => void) | undefined {
    return this.#running.take(path, this.#startNext)
  }

  #wait(signal: Signal | undefined, path: SharePath): Promise<(() => void) | undefined> | undefined {
    const leaveQueue = this.#waiting.take(path)
    if (leaveQueue === undefined) return undefined
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        leaveQueue()
        signal?.removeEventListener('abort', abort)
      }
      const remove = this.#queue.add(path, {
        path,
        start: (release) => {
          leave()
          resolve(release)
        },
      })
      const abort = (): void => {
        remove()
        leave()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort)
    })
  }

  /** Starts several when the limit was raised, or when one that ended makes room for the shares of others. */
  readonly #startNext = (): void => {
    while (this.#queue.size > 0) {
      const next = this.#queue.take((path) => this.#running.hasRoom(path))
      const release = next === undefined ? undefined : this.#start(next.path)
      if (next === undefined || release === undefined) return
      next.start(release)
    }
  }
}
