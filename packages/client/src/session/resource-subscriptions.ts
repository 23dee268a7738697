import type { Clock } from '../time/clock.ts'
import { SubscriptionListener, type SubscriptionListenerOptions } from './listener.ts'
import type { Session } from './session.ts'

export interface ResourceSubscriptionsOptions {
  /** Returns the current session, or opens a new one. */
  readonly session: () => Promise<Session>
  readonly isReplaced: SubscriptionListenerOptions['isReplaced']
  readonly request: (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>
  readonly clock: Clock
  readonly timeoutMs: number
}

/** Resource subscriptions: `resources/subscribe` in the session era, one `subscriptions/listen` stream in 2026-07-28. */
export class ResourceSubscriptions {
  readonly #options: ResourceSubscriptionsOptions
  readonly #wanted = new Set<string>()
  /** Wanted subscriptions that the server has confirmed. */
  readonly #confirmed = new Set<string>()
  #listener: SubscriptionListener | undefined
  #queue: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(options: ResourceSubscriptionsOptions) {
    this.#options = options
  }

  /** Resolves when the server has confirmed. Concurrent requests for one resource share the result, and retry if it failed. */
  add(uri: string): Promise<void> {
    return this.#serialized(async () => {
      if (this.#confirmed.has(uri)) return
      const wasWanted = this.#wanted.has(uri)
      this.#wanted.add(uri)
      try {
        await this.#request('resources/subscribe', uri)
        this.#confirmed.add(uri)
      } catch (error) {
        if (!wasWanted) this.#wanted.delete(uri)
        throw error
      }
    })
  }

  remove(uri: string): Promise<void> {
    return this.#serialized(async () => {
      this.#confirmed.delete(uri)
      if (this.#wanted.delete(uri)) await this.#request('resources/unsubscribe', uri)
    })
  }

  /** Subscribes again in a new session, which may be of another era. */
  renew({ agreement: { era } }: Session): void {
    // Serialized, so that a request still running in the lost session does not count for the new one.
    void this.#serialized(async () => {
      // The listener uses the new session by itself.
      if (era === 'stateless' && this.#listener !== undefined) return
      this.#confirmed.clear()
      if (era === 'stateless') {
        await this.#listen()
        for (const uri of this.#wanted) this.#confirmed.add(uri)
        return
      }
      await this.#listener?.stop()
      this.#listener = undefined
      const requests = [...this.#wanted].map(async (uri) => {
        await this.#options.request('resources/subscribe', { uri })
        this.#confirmed.add(uri)
      })
      await Promise.allSettled(requests)
    })
  }

  async stop(): Promise<void> {
    this.#isClosed = true
    await this.#listener?.stop()
  }

  async #request(method: 'resources/subscribe' | 'resources/unsubscribe', uri: string): Promise<void> {
    const { agreement } = await this.#options.session()
    if (agreement.era === 'session') await this.#options.request(method, { uri })
    else await this.#listen()
  }

  /** Replaces the stream, whose filter is fixed when it opens. If the new one cannot be opened, the old one stays. */
  async #listen(): Promise<void> {
    const previous = this.#listener
    const next = this.#wanted.size === 0 ? undefined : this.#createListener([...this.#wanted])
    // The new stream opens before the old one closes, so that no update is missed.
    const failure = await next?.start()
    if (failure !== undefined || this.#isClosed) await next?.stop()
    if (failure !== undefined) throw failure
    this.#listener = next
    await previous?.stop()
  }

  #createListener(uris: readonly string[]): SubscriptionListener {
    const { session, isReplaced, clock, timeoutMs } = this.#options
    const listener = new SubscriptionListener({
      session,
      isReplaced,
      filter: () => ({ resourceSubscriptions: uris.filter((uri) => this.#wanted.has(uri)) }),
      clock,
      timeoutMs,
      onOpen: () => undefined,
      onClosed: () => undefined,
      // The stream is closed for good: a later subscription must send its own request.
      onWarning: () => {
        if (this.#listener === listener) this.#confirmed.clear()
      },
    })
    return listener
  }

  #serialized(work: () => Promise<void>): Promise<void> {
    const result = this.#queue.then(work)
    this.#queue = result.catch(() => undefined)
    return result
  }
}
