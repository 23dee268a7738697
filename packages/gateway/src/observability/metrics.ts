import type { EventStream } from '../upstreams/events.ts'
import { followDiscoveries } from './discoveries.ts'
import type { Measured, Numbers } from './prometheus.ts'

// By then a start is over; and what happens until then is little.
const loadAfterMs = 2_000
const mostBefore = 10_000

/** The numbers of one gateway, for Prometheus. What counts them is loaded after the start, and then told what it missed. */
export class Metrics {
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8'
  readonly #before: ((numbers: Numbers) => void)[] = []
  #numbers: Numbers | undefined
  #loading: Promise<Numbers> | undefined

  /** Counts all that happens to the servers. */
  follow(events: EventStream): void {
    events.on('call', (call) => this.#tell((numbers) => numbers.call(call)))
    events.on('tools', (change) => this.#tell((numbers) => numbers.tools(change)))
    followDiscoveries(events, (discovery) => this.#tell((numbers) => numbers.discovery(discovery)))
    events.on('notice', (notice) => this.#tell((numbers) => numbers.notice(notice)))
    setTimeout(() => void this.#load().catch(() => undefined), loadAfterMs).unref()
  }

  readonly refused = (): void => this.#tell((numbers) => numbers.refused())

  /** Reads from now on what is true at the moment of asking. */
  measure(measured: Measured): void {
    this.#tell((numbers) => numbers.measure(measured))
  }

  async text(): Promise<string> {
    const numbers = await this.#load()
    return numbers.text()
  }

  #tell(what: (numbers: Numbers) => void): void {
    if (this.#numbers !== undefined) what(this.#numbers)
    else if (this.#before.push(what) >= mostBefore) void this.#load().catch(() => undefined)
  }

  #load(): Promise<Numbers> {
    this.#loading ??= import('./prometheus.ts').then(({ Numbers }) => {
      const numbers = new Numbers()
      for (const what of this.#before.splice(0)) what(numbers)
      this.#numbers = numbers
      return numbers
    })
    return this.#loading
  }
}
