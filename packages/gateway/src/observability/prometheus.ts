import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { version } from '../base/version.ts'
import type { UpstreamEvents } from '../upstreams/events.ts'
import type { UpstreamStatus } from '../upstreams/status.ts'
import type { Discovery } from './discoveries.ts'

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

const maxUncounted = 256

let processRegistry: Registry | undefined

// Shared by all gateways of the process, and created at the first scrape because collecting has a cost.
function processMetrics(): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry()
    collectDefaultMetrics({ register: processRegistry })
  }
  return processRegistry
}

/** Values that are read at scrape time. */
export interface MetricSources {
  readonly gateway: {
    readonly upstreams: { statuses(): readonly UpstreamStatus[] }
    readonly poisoning: { findings(upstream: string): readonly { readonly rule: string }[] }
    readonly trust: { held(upstream: string): readonly unknown[] }
    readonly approvals: { pendingCount(): Promise<number> }
    readonly storedResults: { readonly bytes: number }
    savings(): Promise<{ readonly allTokens: number; readonly listedTokens: number }>
  }
  readonly sessions: () => number
  readonly subscriptions: () => number
  readonly waitingEdits: () => number
}

export interface ResultFindingLabels {
  readonly upstream: string
  readonly rule: string
  readonly action: string
}

export class PrometheusMetrics {
  readonly #registry = new Registry()
  readonly #uncounted: UpstreamEvents['call'][] = []
  readonly #calls = this.#counter('unfold_calls_total', 'Tool calls by outcome', ['upstream', 'outcome'])
  readonly #callSeconds = this.#histogram('unfold_call_seconds', 'Duration of tool calls')
  readonly #changes = this.#counter('unfold_tool_changes_total', 'Tools added, changed or removed', ['upstream', 'kind'])
  readonly #changeSeconds = this.#histogram('unfold_change_seconds', 'Time from a change notification to the updated list')
  readonly #discoveries = this.#counter('unfold_discoveries_total', 'tools/list reads by outcome', ['upstream', 'outcome'])
  readonly #listChanged = this.#counter('unfold_list_changed_total', 'tools/list_changed notifications', ['upstream'])
  readonly #rateLimited = this.#counter('unfold_calls_rate_limited_total', 'Calls rejected by the rate limit', [])
  readonly #slowClients = this.#counter('unfold_slow_clients_total', 'Clients disconnected because they were too slow', [
    'reason',
  ])

  readonly #tokensRejected = this.#counter('unfold_tokens_rejected_total', 'Requests with an invalid token, by status', [
    'status',
  ])

  readonly #resultFindings = this.#counter('unfold_result_findings_total', 'Results with secrets or instructions', [
    'upstream',
    'rule',
    'action',
  ])

  /** Counts calls in batches, which is cheaper. */
  call(call: UpstreamEvents['call']): void {
    if (this.#uncounted.push(call) >= maxUncounted) this.#count()
  }

  tools({ upstream, added, changed, removed, reads, ms }: UpstreamEvents['tools']): void {
    for (const [kind, count] of Object.entries({ added, changed, removed })) this.#changes.inc({ upstream, kind }, count)
    if (reads > 0) this.#changeSeconds.observe({ upstream }, ms / 1_000)
  }

  discovery({ upstream, outcome, reads }: Discovery): void {
    this.#discoveries.inc({ upstream, outcome }, reads)
  }

  listChanged({ upstream }: UpstreamEvents['list_changed']): void {
    this.#listChanged.inc({ upstream })
  }

  tokenRejected(status: 401 | 429): void {
    this.#tokensRejected.inc({ status: String(status) })
  }

  rateLimited(): void {
    this.#rateLimited.inc()
  }

  slowClient(reason: string): void {
    this.#slowClients.inc({ reason })
  }

  resultFinding({ upstream, rule, action }: ResultFindingLabels): void {
    this.#resultFindings.inc({ upstream, rule, action })
  }

  /** Registers gauges that are read at scrape time. */
  registerGauges({ gateway, sessions, subscriptions, waitingEdits }: MetricSources): void {
    const upstreamGauge = (name: string, help: string, value: (status: UpstreamStatus) => number): void =>
      this.#gauge(name, help, ['upstream'], (gauge) => {
        for (const status of gateway.upstreams.statuses()) gauge.set({ upstream: status.name }, value(status))
      })
    this.#gauge('unfold_info', 'Version of the gateway', ['version'], (gauge) => gauge.set({ version }, 1))
    this.#gauge('unfold_upstream_state', 'Current state of each server', ['upstream', 'state'], (gauge) => {
      for (const { name, state } of gateway.upstreams.statuses()) gauge.set({ upstream: name, state }, 1)
    })
    upstreamGauge('unfold_upstream_tools', 'Tools of each server', ({ tools }) => tools)
    upstreamGauge('unfold_upstream_calls_running', 'Running calls of each server', ({ calls }) => calls.running)
    upstreamGauge('unfold_upstream_calls_waiting', 'Queued calls of each server', ({ calls }) => calls.waiting)
    this.#gauge('unfold_upstream_findings', 'Poisoning findings of each server', ['upstream', 'rule'], (gauge) => {
      for (const { name } of gateway.upstreams.statuses())
        for (const { rule } of gateway.poisoning.findings(name)) gauge.inc({ upstream: name, rule })
    })
    upstreamGauge(
      'unfold_upstream_held',
      'Definitions of each server that wait for a review',
      ({ name }) => gateway.trust.held(name).length,
    )
    this.#gauge('unfold_approvals_pending', 'Calls that wait for the approval of a person', [], async (gauge) =>
      gauge.set(await gateway.approvals.pendingCount()),
    )
    this.#gauge('unfold_sessions', 'Open sessions', [], (gauge) => gauge.set(sessions()))
    this.#gauge('unfold_subscriptions', 'Open subscriptions/listen streams', [], (gauge) => gauge.set(subscriptions()))
    this.#gauge('unfold_config_edits_waiting', 'Edits of the configuration file that wait for approval', [], (gauge) =>
      gauge.set(waitingEdits()),
    )
    this.#gauge('unfold_stored_result_bytes', 'Truncated results that read_result can return', [], (gauge) =>
      gauge.set(gateway.storedResults.bytes),
    )
    this.#gauge('unfold_list_tokens', 'Tokens of all tools and of the first list', ['part'], async (gauge) => {
      const { allTokens, listedTokens } = await gateway.savings()
      gauge.set({ part: 'all' }, allTokens)
      gauge.set({ part: 'listed' }, listedTokens)
    })
  }

  async text(): Promise<string> {
    this.#count()
    return `${await this.#registry.metrics()}\n${await processMetrics().metrics()}`
  }

  #count(): void {
    for (const { upstream, outcome, ms } of this.#uncounted) {
      this.#calls.inc({ upstream, outcome })
      this.#callSeconds.observe({ upstream }, ms / 1_000)
    }
    this.#uncounted.length = 0
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #histogram(name: string, help: string): Histogram<'upstream'> {
    return new Histogram({ name, help, labelNames: ['upstream'], buckets: seconds, registers: [this.#registry] })
  }

  #gauge<L extends string>(name: string, help: string, labelNames: readonly L[], collect: (gauge: Gauge<L>) => unknown): void {
    new Gauge<L>({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      async collect() {
        // Drops the series of removed servers.
        this.reset()
        await collect(this)
      },
    })
  }
}
