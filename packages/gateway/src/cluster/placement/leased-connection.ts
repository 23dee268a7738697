import type { CallResult, ConnectionEvent } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import type { UpstreamCall, UpstreamConnection } from '../../upstreams/connection.ts'
import { UpstreamError } from '../../upstreams/errors.ts'
import type { Lease } from '../lease.ts'

export interface LeasedOptions {
  readonly server: string
  readonly connection: UpstreamConnection
  readonly lease: Lease
  /** Ends the lease after the server has ended. */
  readonly released: () => Promise<void>
}

/** Connection to a server that this replica runs under a lease. It is not used without the lease, and closes when that is lost. */
export class LeasedConnection implements UpstreamConnection {
  readonly lease: Lease
  readonly #options: LeasedOptions
  readonly #connection: UpstreamConnection
  /** Who needs each resource subscription: this replica, or others. */
  readonly #subscribers = new Map<string, Set<string>>()
  #closing: Promise<void> | undefined

  constructor(options: LeasedOptions) {
    this.#options = options
    this.#connection = options.connection
    this.lease = options.lease
  }

  get era(): UpstreamConnection['era'] {
    return this.#connection.era
  }

  get protocolVersion(): string {
    return this.#connection.protocolVersion
  }

  get server(): UpstreamConnection['server'] {
    return this.#connection.server
  }

  get instructions(): string | undefined {
    return this.#connection.instructions
  }

  get capabilities(): UpstreamConnection['capabilities'] {
    return this.#connection.capabilities
  }

  get pid(): number | undefined {
    return this.#connection.pid
  }

  get received(): number {
    return this.#connection.received ?? 0
  }

  refresh(signal?: AbortSignal): Promise<readonly Tool[]> {
    return this.#held.refresh(signal)
  }

  watch(listener: (event: ConnectionEvent) => void): Promise<() => void> {
    return this.#connection.watch(listener)
  }

  ping(...options: Parameters<UpstreamConnection['ping']>): Promise<void> {
    return this.#connection.ping(...options)
  }

  async call(tool: string, args: Readonly<Record<string, unknown>> = {}, options: UpstreamCall = {}): Promise<CallResult> {
    return this.#held.call(tool, args, options)
  }

  async request(method: string, params: Readonly<Record<string, unknown>>, options: UpstreamCall = {}): Promise<unknown> {
    return this.#held.request?.(method, params, options)
  }

  subscribe(uri: string): Promise<void> {
    return this.subscribeFor('', uri)
  }

  unsubscribe(uri: string): Promise<void> {
    return this.unsubscribeFor('', uri)
  }

  /** Subscribes to a resource for another replica. */
  async subscribeFor(peer: string, uri: string): Promise<void> {
    const subscribers = this.#subscribers.get(uri) ?? new Set()
    this.#subscribers.set(uri, subscribers.add(peer))
    await this.#held.subscribe?.(uri)
  }

  async unsubscribeFor(peer: string, uri: string): Promise<void> {
    const subscribers = this.#subscribers.get(uri)
    if (subscribers?.delete(peer) !== true || subscribers.size > 0) return
    this.#subscribers.delete(uri)
    await this.#held.unsubscribe?.(uri)
  }

  /** Ends the subscriptions of another replica. */
  forget(peer: string): void {
    for (const uri of [...this.#subscribers.keys()]) this.unsubscribeFor(peer, uri).catch(() => undefined)
  }

  /** Ends the server, then the lease. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  onClose(listener: () => void): void {
    this.#connection.onClose(listener)
  }

  async #close(): Promise<void> {
    try {
      await this.#connection.close()
    } finally {
      await this.#options.released()
    }
  }

  get #held(): UpstreamConnection {
    if (this.lease.isHeld) return this.#connection
    const detail = 'is moving to another replica. The tool was not called; try again in a moment.'
    throw new UpstreamError(this.#options.server, 'unavailable', detail, { retryAfterMs: 1_000 })
  }
}
