import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../access/access.ts'
import type { Gateway } from '../gateway/gateway.ts'

const startupWaitMs = 1_000

/** Many clients list only when they connect, so the first ones wait briefly for tools. */
export class StartupWait {
  readonly #gateway: Gateway
  readonly #firstTools: Promise<void>
  #hasTools = false

  constructor(gateway: Gateway) {
    this.#gateway = gateway
    this.#firstTools = this.#waitForFirst()
  }

  /**
   * Resolves when there are tools for this client or the wait is over; `undefined` if no wait is needed. For all servers this applies
   * once after the start of the gateway; for a single server after each of its starts.
   */
  for({ server }: Client): Promise<unknown> | undefined {
    if (server === undefined) return this.#hasTools ? undefined : this.#firstTools
    const left = startupWaitMs - (this.#gateway.upstreams.get(server)?.status.forMs ?? 0)
    return left <= 0 || this.#hasSettled(server) ? undefined : this.#within(left, this.#settled(server))
  }

  async #waitForFirst(): Promise<void> {
    await this.#within(startupWaitMs, this.#gateway.upstreams.ready)
    this.#hasTools = true
  }

  #within(ms: number, ready: Promise<void>): Promise<unknown> {
    return Promise.race([ready.then(() => this.#gateway.proxy.documentsRead()), pause(ms, undefined, { ref: false })])
  }

  #hasSettled(server: string): boolean {
    const { upstreams } = this.#gateway
    const state = upstreams.get(server)?.state
    return (state !== 'starting' && state !== 'ready') || upstreams.tools(server).length > 0
  }

  async #settled(server: string): Promise<void> {
    const { events } = this.#gateway.upstreams
    let unsubscribe: readonly (() => void)[] = []
    await new Promise<void>((resolve) => {
      unsubscribe = [
        events.on('listed', ({ upstream }) => upstream === server && resolve()),
        events.on('state', ({ upstream }) => upstream === server && this.#hasSettled(server) && resolve()),
      ]
    })
    for (const each of unsubscribe) each()
  }
}
