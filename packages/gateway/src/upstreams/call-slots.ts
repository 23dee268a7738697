import { Semaphore, type SharePath } from '@unfold-mcp/core'
import type { UpstreamSettings } from './config.ts'
import { UpstreamError } from './errors.ts'

/** Limits the concurrent calls of an upstream. Every client has its share of the slots and of the queue. */
export class CallSlots {
  readonly #upstream: string
  readonly #limits: () => UpstreamSettings
  readonly #semaphore: Semaphore

  constructor(upstream: string, limits: () => UpstreamSettings) {
    this.#upstream = upstream
    this.#limits = limits
    this.#semaphore = new Semaphore(limits)
  }

  /** Number of running and queued calls. */
  get load(): { readonly running: number; readonly waiting: number } {
    const { running, waiting } = this.#semaphore
    return { running, waiting }
  }

  get isBusy(): boolean {
    return this.#semaphore.running > 0
  }

  /** Returns a function that releases a slot, or a promise of one if the call must wait. Throws if the call is cancelled. */
  acquire(signal: AbortSignal | undefined, caller: SharePath | undefined): (() => void) | Promise<() => void> {
    return this.#semaphore.tryAcquire(signal, caller) ?? this.#wait(signal, caller)
  }

  async #wait(signal: AbortSignal | undefined, caller: SharePath | undefined): Promise<() => void> {
    const release = await this.#semaphore.acquire(signal, caller).catch((cause: unknown) => {
      const message = 'was not called: the call was cancelled while it was queued.'
      throw new UpstreamError(this.#upstream, 'cancelled', message, { cause })
    })
    if (release !== undefined) return release
    throw new UpstreamError(this.#upstream, 'busy', `is busy: ${this.#loadText(caller)}`, { retryAfterMs: 1_000 })
  }

  #loadText(caller: SharePath = []): string {
    const { running, waiting } = this.#semaphore
    const own = this.#semaphore.held(caller.slice(0, 1))
    if (waiting < this.#limits().queue)
      return `${own.running} of your calls are running and ${own.waiting} are queued, which is your share. The tool was not called; wait for some of them to finish, then try again.`
    return `${running} calls are running and ${waiting} are queued. The tool was not called; try again later.`
  }
}
