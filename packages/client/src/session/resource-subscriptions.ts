import type { Clock } from '../time/clock.ts'
import { Listening } from './listener.ts'
import type { Link } from './session.ts'

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
  /** Those that somebody wants to hear of. */
  readonly #wanted = new Set<string>()
  /** Those of them that the server is known to tell of. */
  readonly #told = new Set<string>()
  #listening: Listening | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(options: SubscribedOptions) {
    this.#options = options
  }

  /** Done when the server tells of it; whoever asks while another does waits for that, and asks too where it failed. */
  add(uri: string): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#told.has(uri)) return
      const wasWanted = this.#wanted.has(uri)
      this.#wanted.add(uri)
      try {
        await this.#ask('resources/subscribe', uri)
        this.#told.add(uri)
      } catch (error) {
        if (!wasWanted) this.#wanted.delete(uri)
        throw error
      }
    })
  }

  remove(uri: string): Promise<void> {
    return this.#inTurn(async () => {
      this.#told.delete(uri)
      if (this.#wanted.delete(uri)) await this.#ask('resources/unsubscribe', uri)
    })
  }

  /** The server has forgotten them: it is told again. */
  renew(): void {
    // In turn, so that what is on its way in the session that was lost does not count for the next.
    void this.#inTurn(async () => {
      this.#told.clear()
      const asked = [...this.#wanted].map(async (uri) => {
        await this.#options.request('resources/subscribe', { uri })
        this.#told.add(uri)
      })
      await Promise.allSettled(asked)
    })
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#listening?.stop()
  }

  async #ask(method: 'resources/subscribe' | 'resources/unsubscribe', uri: string): Promise<void> {
    const { agreement } = await this.#options.link()
    if (agreement.era === 'session') await this.#options.request(method, { uri })
    else await this.#listen()
  }

  /** One stream for all of them; what is told is decided when it opens. One that cannot be opened leaves the last one as it is. */
  async #listen(): Promise<void> {
    const before = this.#listening
    const next = this.#wanted.size === 0 ? undefined : this.#listeningTo([...this.#wanted])
    // The next one hears before the last one ends, so that nothing is missed in between.
    const failure = await next?.start()
    if (failure !== undefined || this.#isOver) await next?.stop()
    if (failure !== undefined) throw failure
    this.#listening = next
    await before?.stop()
  }

  #listeningTo(uris: readonly string[]): Listening {
    const { link, clock, timeoutMs } = this.#options
    const made = new Listening({
      link,
      filter: () => ({ resourceSubscriptions: uris.filter((uri) => this.#wanted.has(uri)) }),
      clock,
      timeoutMs,
      onOpen: () => undefined,
      onClosed: () => undefined,
      // It is not heard any more: whoever asks again is to hear what the server says to that.
      onWarning: () => {
        if (this.#listening === made) this.#told.clear()
      },
    })
    return made
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => undefined)
    return turn
  }
}
