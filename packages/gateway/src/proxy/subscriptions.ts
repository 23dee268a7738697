import type { UpstreamConnection } from '../upstreams/connection.ts'
import type { Subscribers } from './document-announcer.ts'

export interface SubscriptionsOptions {
  readonly connection: (server: string) => UpstreamConnection | undefined
}

const maxPerClient = 1_024
const maxTotal = 32_768

/** That somebody hears of a resource, by the uri that they know it under. */
interface Subscription {
  readonly uri: string
}

/** Who hears of updates of which resources. Each server is told of a resource once, however many want to hear of it. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #servers = new Map<string, Map<string, Map<object, Subscription>>>()
  readonly #counts = new Map<object, number>()
  #total = 0

  constructor(options: SubscriptionsOptions) {
    this.#options = options
  }

  /** Whether somebody may follow one more. */
  hasRoomFor(subscriber: object): boolean {
    return this.#total < maxTotal && (this.#counts.get(subscriber) ?? 0) < maxPerClient
  }

  /** `subscriber` hears of a server's resource, by the uri it knows it under. Done when the server knows; else it does not hear. */
  async add(subscriber: object, resource: SubscribedResource, uri: string): Promise<void> {
    const subscription = this.#subscription(subscriber, resource, uri)
    try {
      await this.#subscribe(resource)
    } catch (error) {
      // Who asked once more meanwhile has another, and an answer of its original.
      if (this.#subscribers(resource)?.get(subscriber) === subscription) this.#delete(subscriber, resource)
      throw error
    }
  }

  /** The same for one that nobody can answer: it hears from when the server knows, be that after the next start. */
  addEventually(subscriber: object, resource: SubscribedResource, uri: string): void {
    this.#subscription(subscriber, resource, uri)
    this.#subscribe(resource).catch(() => undefined)
  }

  async remove(subscriber: object, resource: SubscribedResource): Promise<void> {
    const { server, original } = resource
    if (this.#delete(subscriber, resource)) await this.#options.connection(server)?.unsubscribe?.(original)
  }

  /** `subscriber` is gone. */
  removeAll(subscriber: object): void {
    if (!this.#counts.has(subscriber)) return
    for (const [server, uris] of this.#servers)
      for (const [original, subscribers] of [...uris])
        if (subscribers.has(subscriber)) void this.remove(subscriber, { server, original }).catch(() => undefined)
    this.#counts.delete(subscriber)
  }

  /** Who hears of this resource, and under which uri. */
  subscribers(server: string, original: string): Subscribers {
    return [...(this.#subscribers({ server, original }) ?? [])].map(([subscriber, { uri }]) => [subscriber, uri])
  }

  /** The server is there again, and knows of nobody. */
  async renew(server: string): Promise<void> {
    const connection = this.#options.connection(server)
    for (const original of this.#servers.get(server)?.keys() ?? []) await connection?.subscribe?.(original).catch(() => undefined)
  }

  // A connection asks in turn, and only for what its server does not know: whoever comes while another's request is on its way
  // waits for that, and asks again where it failed.
  async #subscribe({ server, original }: SubscribedResource): Promise<void> {
    await this.#options.connection(server)?.subscribe?.(original)
  }

  #subscribers({ server, original }: SubscribedResource): Map<object, Subscription> | undefined {
    return this.#servers.get(server)?.get(original)
  }

  #subscription(subscriber: object, { server, original }: SubscribedResource, uri: string): Subscription {
    const uris = this.#servers.get(server) ?? new Map<string, Map<object, Subscription>>()
    const subscribers = uris.get(original) ?? new Map<object, Subscription>()
    this.#servers.set(server, uris.set(original, subscribers))
    if (!subscribers.has(subscriber)) this.#tally(subscriber, 1)
    const subscription = { uri }
    subscribers.set(subscriber, subscription)
    return subscription
  }

  #tally(subscriber: object, change: 1 | -1): void {
    this.#total += change
    this.#counts.set(subscriber, (this.#counts.get(subscriber) ?? 0) + change)
  }

  /** Whether that was the last one. */
  #delete(subscriber: object, { server, original }: SubscribedResource): boolean {
    const uris = this.#servers.get(server)
    const subscribers = uris?.get(original)
    if (uris === undefined || subscribers?.delete(subscriber) !== true) return false
    this.#tally(subscriber, -1)
    if (subscribers.size > 0) return false
    uris.delete(original)
    if (uris.size === 0) this.#servers.delete(server)
    return true
  }
}

/** A resource of a server, by its original uri. */
export interface SubscribedResource {
  readonly server: string
  readonly original: string
}
