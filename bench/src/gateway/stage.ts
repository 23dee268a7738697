import type { Running } from './gateways.ts'
import type { UpstreamSet } from './upstreams.ts'

/** Gateways that run at the same time, each with its own servers; disposing stops all of them. */
export class Stage implements AsyncDisposable {
  readonly #used: AsyncDisposable[] = []

  /** Starts a gateway with these upstreams. */
  async add<R extends Running>(making: Promise<UpstreamSet>, start: (upstreams: UpstreamSet) => Promise<R>): Promise<R> {
    const upstreams = await making
    this.#used.push(upstreams)
    const running = await start(upstreams)
    this.#used.push(running)
    return running
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#used.splice(0).reverse()) await each[Symbol.asyncDispose]()
  }
}
