import type { EventStream } from '../upstreams/events.ts'
import { onDiscovery } from './discoveries.ts'
import type { MetricSources, PrometheusMetrics, ResultFindingLabels } from './prometheus.ts'

const loadAfterMs = 2_000
const maxQueued = 10_000

/** Prometheus metrics of one gateway. prom-client is loaded after the start; updates until then are queued. */
export class Metrics {
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8'
  readonly #queue: ((metrics: PrometheusMetrics) => void)[] = []
  #metrics: PrometheusMetrics | undefined
  #loading: Promise<PrometheusMetrics> | undefined

  /** Counts upstream events. */
  follow(events: EventStream): void {
    events.on('call', (call) => this.#update((metrics) => metrics.call(call)))
    events.on('tools', (change) => this.#update((metrics) => metrics.tools(change)))
    onDiscovery(events, (discovery) => this.#update((metrics) => metrics.discovery(discovery)))
    events.on('list_changed', (event) => this.#update((metrics) => metrics.listChanged(event)))
    setTimeout(() => void this.#load().catch(() => undefined), loadAfterMs).unref()
  }

  readonly tokenRejected = (status: 401 | 429): void => this.#update((metrics) => metrics.tokenRejected(status))

  readonly rateLimited = (): void => this.#update((metrics) => metrics.rateLimited())

  readonly resultFinding = (finding: ResultFindingLabels): void => this.#update((metrics) => metrics.resultFinding(finding))

  readonly slowClient = (reason: string): void => this.#update((metrics) => metrics.slowClient(reason))

  /** Registers gauges that are read at scrape time. */
  registerGauges(sources: MetricSources): void {
    this.#update((metrics) => metrics.registerGauges(sources))
  }

  async text(): Promise<string> {
    return (await this.#load()).text()
  }

  #update(update: (metrics: PrometheusMetrics) => void): void {
    if (this.#metrics !== undefined) update(this.#metrics)
    else if (this.#queue.push(update) >= maxQueued) void this.#load().catch(() => undefined)
  }

  #load(): Promise<PrometheusMetrics> {
    this.#loading ??= import('./prometheus.ts').then(({ PrometheusMetrics }) => {
      const metrics = new PrometheusMetrics()
      for (const update of this.#queue.splice(0)) update(metrics)
      this.#metrics = metrics
      return metrics
    })
    return this.#loading
  }
}
