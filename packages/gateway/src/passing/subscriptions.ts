import type { UpstreamConnection } from '../upstreams/connection.ts'
import type { Followers } from './readers.ts'

export interface SubscriptionsOptions {
  readonly connection: (server: string) => UpstreamConnection | undefined
}

const mostOfOne = 1_024
const mostOfAll = 32_768

/** Who hears of updates of which resources. Each server is told of a resource once, however many want to hear of it. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #servers = new Map<string, Map<string, Map<object, string>>>()
  readonly #counts = new Map<object, number>()
  #all = 0

  constructor(options: SubscriptionsOptions) {
    this.#options = options
  }

  /** Whether somebody may follow one more. */
  hasRoomFor(holder: object): boolean {
    return this.#all < mostOfAll && (this.#counts.get(holder) ?? 0) < mostOfOne
  }

  /** `holder` hears of a server's resource, by the address it knows it under. Done when the server knows. */
  async add(holder: object, { server, own }: Followed, address: string): Promise<void> {
    const uris = this.#servers.get(server) ?? new Map<string, Map<object, string>>()
    const holders = uris.get(own) ?? new Map<object, string>()
    this.#servers.set(server, uris.set(own, holders))
    if (!holders.has(holder)) this.#tally(holder, 1)
    holders.set(holder, address)
    if (holders.size > 1) return
    try {
      await this.#options.connection(server)?.subscribe?.(own)
    } catch (error) {
      this.#forget(holder, server, own)
      throw error
    }
  }

  async remove(holder: object, { server, own }: Followed): Promise<void> {
    if (this.#forget(holder, server, own)) await this.#options.connection(server)?.unsubscribe?.(own)
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
    return [...(this.#servers.get(server)?.get(own) ?? [])]
  }

  /** The server is there again, and knows of nobody. */
  async renew(server: string): Promise<void> {
    const connection = this.#options.connection(server)
    for (const own of this.#servers.get(server)?.keys() ?? []) await connection?.subscribe?.(own).catch(() => undefined)
  }

  #tally(holder: object, change: 1 | -1): void {
    this.#all += change
    this.#counts.set(holder, (this.#counts.get(holder) ?? 0) + change)
  }

  /** Whether that was the last one. */
  #forget(holder: object, server: string, own: string): boolean {
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
