import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../access/access.ts'
import type { Gateway } from '../gateway/gateway.ts'

const firstToolsMs = 1_000

/** Many clients list once, when they connect; so those that come first wait a moment for something to list. */
export class FirstTools {
  readonly #gateway: Gateway
  readonly #something: Promise<void>
  #hasSomething = false

  constructor(gateway: Gateway) {
    this.#gateway = gateway
    this.#something = this.#begin()
  }

  /**
   * Done when there is something for this client to list, or it has waited long enough; `undefined` when it need not wait. For
   * all servers that is once, after the gateway has started; for one server after each start of it.
   */
  of({ server }: Client): Promise<unknown> | undefined {
    if (server === undefined) return this.#hasSomething ? undefined : this.#something
    const left = firstToolsMs - (this.#gateway.upstreams.get(server)?.status.forMs ?? 0)
    return left <= 0 || this.#isKnown(server) ? undefined : this.#within(left, this.#known(server))
  }

  async #begin(): Promise<void> {
    await this.#within(firstToolsMs, this.#gateway.upstreams.ready)
    this.#hasSomething = true
  }

  #within(ms: number, ready: Promise<void>): Promise<unknown> {
    return Promise.race([ready.then(() => this.#gateway.proxy.read()), pause(ms, undefined, { ref: false })])
  }

  #isKnown(server: string): boolean {
    const { upstreams } = this.#gateway
    const state = upstreams.get(server)?.state
    return (state !== 'starting' && state !== 'ready') || upstreams.tools(server).length > 0
  }

  async #known(server: string): Promise<void> {
    const { events } = this.#gateway.upstreams
    let stop: readonly (() => void)[] = []
    await new Promise<void>((resolve) => {
      stop = [
        events.on('listed', ({ upstream }) => upstream === server && resolve()),
        events.on('state', ({ upstream }) => upstream === server && this.#isKnown(server) && resolve()),
      ]
    })
    for (const each of stop) each()
  }
}
