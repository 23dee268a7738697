import type { Clock } from './clock.ts'
import type { Link } from './link.ts'
import { Listening } from './listening.ts'

export interface SubscribedOptions {
  /** The link there is, or a new one. */
  readonly link: () => Promise<Link>
  readonly request: (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>
  readonly clock: Clock
  readonly timeoutMs: number
}

/** The resources whose updates are heard of, in the way of either era. */
export class Subscribed {
  readonly #options: SubscribedOptions
  readonly #uris = new Set<string>()
  #listening: Listening | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: SubscribedOptions) {
    this.#options = options
  }

  add(uri: string): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#uris.has(uri)) return
      this.#uris.add(uri)
      try {
        await this.#ask('resources/subscribe', uri)
      } catch (error) {
        this.#uris.delete(uri)
        throw error
      }
    })
  }

  remove(uri: string): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#uris.delete(uri)) await this.#ask('resources/unsubscribe', uri)
    })
  }

  /** The server has forgotten them: it is told again. */
  renew(): void {
    for (const uri of this.#uris) this.#options.request('resources/subscribe', { uri }).catch(() => undefined)
  }

  async stop(): Promise<void> {
    await this.#listening?.stop()
  }

  async #ask(method: 'resources/subscribe' | 'resources/unsubscribe', uri: string): Promise<void> {
    const { agreement } = await this.#options.link()
    if (agreement.era === 'session') await this.#options.request(method, { uri })
    else await this.#listen()
  }

  /** One stream for all of them; what is told is decided when it opens. */
  async #listen(): Promise<void> {
    const { link, clock, timeoutMs } = this.#options
    const before = this.#listening
    const resourceSubscriptions = [...this.#uris]
    this.#listening =
      resourceSubscriptions.length === 0
        ? undefined
        : new Listening({
            link,
            filter: () => ({ resourceSubscriptions }),
            clock,
            timeoutMs,
            onOpen: () => undefined,
            onClosed: () => undefined,
            onWarning: () => undefined,
          })
    // The next one hears before the last one ends, so that nothing is missed in between.
    await this.#listening?.start()
    await before?.stop()
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => undefined)
    return turn
  }
}
