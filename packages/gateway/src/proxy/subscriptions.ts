import type { UpstreamConnection } from '../upstreams/connection.ts'
import type { Followers } from './document-announcer.ts'

export interface SubscriptionsOptions {
  readonly connection: (server: string) => UpstreamConnection | undefined
}

const mostOfOne = 1_024
const mostOfAll = 32_768

/** That somebody hears of a resource, by the address that they know it under. */
interface Hold {
  readonly address: string
}

/** Who hears of updates of which resources. Each server is told of a resource once, however many want to hear of it. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #servers = new Map<string, Map<string, Map<object, Hold>>>()
  readonly #counts = new Map<object, number>()
  #all = 0

  constructor(options: SubscriptionsOptions) {
    this.#options = options
  }

  /** Whether somebody may follow one more. */
  hasRoomFor(holder: object): boolean {
    return this.#all < mostOfAll && (this.#counts.get(holder) ?? 0) < mostOfOne
  }

  /** `holder` hears of a server's resource, by the address it knows it under. Done when the server knows; else it does not hear. */
  async add(holder: object, followed: Followed, address: string): Promise<void> {
    const hold = this.#hold(holder, followed, address)
    try {
      await this.#ask(followed)
    } catch (error) {
      // Who asked once more meanwhile has another, and an answer of its own.
      if (this.#holders(followed)?.get(holder) === hold) this.#forget(holder, followed)
      throw error
    }
  }

  /** The same for one that nobody can answer: it hears from when the server knows, be that after the next start. */
  follow(holder: object, followed: Followed, address: string): void {
    this.#hold(holder, followed, address)
    this.#ask(followed).catch(() => undefined)
  }

  async remove(holder: object, followed: Followed): Promise<void> {
    const { server, own } = followed
    if (this.#forget(holder, followed)) await this.#options.connection(server)?.unsubscribe?.(own)
  }

  /** `holder` is gone. */
  drop(holder: object): void {
    if (!this.#counts.has(holder)) return
    for (const [server, uris] of this.#servers)
      for (const [own, holders] of [...uris])
        if (holders.has(holder)) void this.remove(holder, { server, own }).catch(() => undefined)
    this.#counts.delete(holder)
  }

  /** Who hears of this resource, and under which address. */
  of(server: string, own: string): Followers {
    return [...(this.#holders({ server, own }) ?? [])].map(([holder, { address }]) => [holder, address])
  }

  /** The server is there again, and knows of nobody. */
  async renew(server: string): Promise<void> {
    const connection = this.#options.connection(server)
    for (const own of this.#servers.get(server)?.keys() ?? []) await connection?.subscribe?.(own).catch(() => undefined)
  }

  // A connection asks in turn, and only for what its server does not know: whoever comes while another's request is on its way
  // waits for that, and asks again where it failed.
  async #ask({ server, own }: Followed): Promise<void> {
    await this.#options.connection(server)?.subscribe?.(own)
  }

  #holders({ server, own }: Followed): Map<object, Hold> | undefined {
    return this.#servers.get(server)?.get(own)
  }

  #hold(holder: object, { server, own }: Followed, address: string): Hold {
    const uris = this.#servers.get(server) ?? new Map<string, Map<object, Hold>>()
    const holders = uris.get(own) ?? new Map<object, Hold>()
    this.#servers.set(server, uris.set(own, holders))
    if (!holders.has(holder)) this.#tally(holder, 1)
    const hold = { address }
    holders.set(holder, hold)
    return hold
  }

  #tally(holder: object, change: 1 | -1): void {
    this.#all += change
    this.#counts.set(holder, (this.#counts.get(holder) ?? 0) + change)
  }

  /** Whether that was the last one. */
  #forget(holder: object, { server, own }: Followed): boolean {
    const uris = this.#servers.get(server)
    const holders = uris?.get(own)
    if (uris === undefined || holders?.delete(holder) !== true) return false
    this.#tally(holder, -1)
    if (holders.size > 0) return false
    uris.delete(own)
    if (uris.size === 0) this.#servers.delete(server)
    return true
  }
}

/** A resource of a server, by its own address. */
export interface Followed {
  readonly server: string
  readonly own: string
}
