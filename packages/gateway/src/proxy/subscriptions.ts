import { Shares } from '@unfold-mcp/core'
import type { UpstreamConnection } from '../upstreams/connection.ts'
import type { Subscribers } from './document-announcer.ts'

export interface SubscriptionsOptions {
  readonly connection: (server: string) => UpstreamConnection | undefined
}

const maxPerClient = 1_024
const maxTotal = 32_768

/** `uri` is the one the subscriber knows. */
interface Subscription {
  readonly uri: string
  readonly release: () => void
}

/** A session or stream that subscribes. */
export interface Subscriber {
  /** Identity of the session or stream. */
  readonly key: object
  /** Client whose share of all subscriptions it uses. */
  readonly share: string | undefined
}

/** Resource subscriptions of all clients. Each server gets one subscription per resource. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #servers = new Map<string, Map<string, Map<object, Subscription>>>()
  /** By subscriber and the URI it knows. */
  readonly #resources = new Map<object, Map<string, SubscribedResource>>()
  readonly #slots = new Shares(() => maxTotal)

  constructor(options: SubscriptionsOptions) {
    this.#options = options
  }

  hasRoomFor({ key, share }: Subscriber): boolean {
    return this.#slots.hasRoom(pathOf(share)) && (this.#resources.get(key)?.size ?? 0) < maxPerClient
  }

  /** Subscribes, and resolves when the server has confirmed. On an error there is no subscription. */
  async add(subscriber: Subscriber, resource: SubscribedResource, uri: string): Promise<void> {
    const subscription = this.#subscription(subscriber, resource, uri)
    try {
      await this.#subscribe(resource)
    } catch (error) {
      // A repeated request meanwhile has its own entry and result.
      if (this.#subscribers(resource)?.get(subscriber.key) === subscription) this.#delete(subscriber.key, resource)
      throw error
    }
  }

  /** Subscribes without waiting; a failure is retried when the server reconnects. */
  addEventually(subscriber: Subscriber, resource: SubscribedResource, uri: string): void {
    this.#subscription(subscriber, resource, uri)
    this.#subscribe(resource).catch(() => undefined)
  }

  /** Unsubscribes from the resource that the subscriber knows under this URI. */
  async removeUri(subscriber: object, uri: string): Promise<void> {
    const resource = this.#resources.get(subscriber)?.get(uri)
    if (resource !== undefined) await this.remove(subscriber, resource)
  }

  async remove(subscriber: object, resource: SubscribedResource): Promise<void> {
    const { server, original } = resource
    if (this.#delete(subscriber, resource)) await this.#options.connection(server)?.unsubscribe?.(original)
  }

  removeAll(subscriber: object): void {
    const resources = [...(this.#resources.get(subscriber)?.values() ?? [])]
    for (const resource of resources) void this.remove(subscriber, resource).catch(() => undefined)
  }

  subscribers(server: string, original: string): Subscribers {
    return [...(this.#subscribers({ server, original }) ?? [])].map(([subscriber, { uri }]) => [subscriber, uri])
  }

  /** Subscribes again after the server has reconnected. */
  async renew(server: string): Promise<void> {
    const connection = this.#options.connection(server)
    for (const original of this.#servers.get(server)?.keys() ?? []) await connection?.subscribe?.(original).catch(() => undefined)
  }

  // The connection serialises requests and skips what the server already knows, so concurrent subscribers share one request.
  async #subscribe({ server, original }: SubscribedResource): Promise<void> {
    await this.#options.connection(server)?.subscribe?.(original)
  }

  #subscribers({ server, original }: SubscribedResource): Map<object, Subscription> | undefined {
    return this.#servers.get(server)?.get(original)
  }

  #subscription({ key, share }: Subscriber, resource: SubscribedResource, uri: string): Subscription {
    const { server, original } = resource
    const uris = this.#servers.get(server) ?? new Map<string, Map<object, Subscription>>()
    const subscribers = uris.get(original) ?? new Map<object, Subscription>()
    this.#servers.set(server, uris.set(original, subscribers))
    const resources = this.#resources.get(key) ?? new Map<string, SubscribedResource>()
    this.#resources.set(key, resources.set(uri, { server, original }))
    const release = subscribers.get(key)?.release ?? this.#slots.take(pathOf(share)) ?? (() => undefined)
    const subscription = { uri, release }
    subscribers.set(key, subscription)
    return subscription
  }

  /** Returns true if that was the last subscriber. */
  #delete(subscriber: object, { server, original }: SubscribedResource): boolean {
    const uris = this.#servers.get(server)
    const subscribers = uris?.get(original)
    const subscription = subscribers?.get(subscriber)
    if (uris === undefined || subscribers === undefined || subscription === undefined) return false
    subscribers.delete(subscriber)
    subscription.release()
    this.#forgetUris(subscriber, { server, original })
    if (subscribers.size > 0) return false
    uris.delete(original)
    if (uris.size === 0) this.#servers.delete(server)
    return true
  }

  #forgetUris(subscriber: object, { server, original }: SubscribedResource): void {
    const resources = this.#resources.get(subscriber)
    if (resources === undefined) return
    for (const [uri, each] of resources) if (each.server === server && each.original === original) resources.delete(uri)
    if (resources.size === 0) this.#resources.delete(subscriber)
  }
}

const pathOf = (share: string | undefined): readonly string[] => (share === undefined ? [] : [share])

/** A resource of a server, by its original URI. */
export interface SubscribedResource {
  readonly server: string
  readonly original: string
}
