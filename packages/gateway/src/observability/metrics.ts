import type { EventStream } from '../upstreams/events.ts'
import { onDiscovery } from './discoveries.ts'
import type { MetricSources, PrometheusMetrics } from './prometheus.ts'

// By then a start is over; and what happens until then is little.
const loadAfterMs = 2_000
const maxQueued = 10_000

/** The numbers of one gateway, for Prometheus. What counts them is loaded after the start, and then told what it missed. */
export class Metrics {
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8'
  readonly #before: ((numbers: PrometheusMetrics) => void)[] = []
  #numbers: PrometheusMetrics | undefined
  #loading: Promise<PrometheusMetrics> | undefined

  /** Counts all that happens to the servers. */
  follow(events: EventStream): void {
    events.on('call', (call) => this.#tell((numbers) => numbers.call(call)))
    events.on('tools', (change) => this.#tell((numbers) => numbers.tools(change)))
    onDiscovery(events, (discovery) => this.#tell((numbers) => numbers.discovery(discovery)))
    events.on('notice', (notice) => this.#tell((numbers) => numbers.notice(notice)))
    setTimeout(() => void this.#load().catch(() => undefined), loadAfterMs).unref()
  }

  readonly refused = (): void => this.#tell((numbers) => numbers.refused())

  /** Reads from now on what is true at the moment of asking. */
  measure(measured: MetricSources): void {
    this.#tell((numbers) => numbers.measure(measured))
  }

  async text(): Promise<string> {
    const numbers = await this.#load()
    return numbers.text()
  }

  #tell(what: (numbers: PrometheusMetrics) => void): void {
    if (this.#numbers !== undefined) what(this.#numbers)
    else if (this.#before.push(what) >= maxQueued) void this.#load().catch(() => undefined)
  }

  #load(): Promise<PrometheusMetrics> {
    this.#loading ??= import('./prometheus.ts').then(({ PrometheusMetrics }) => {
      const numbers = new PrometheusMetrics()
      for (const what of this.#before.splice(0)) what(numbers)
      this.#numbers = numbers
      return numbers
    })
    return this.#loading
  }
}
