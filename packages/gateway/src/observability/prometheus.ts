import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { version } from '../base/version.ts'
import type { UpstreamEvents } from '../upstreams/events.ts'
import type { UpstreamStatus } from '../upstreams/status.ts'
import type { Discovery } from './discoveries.ts'

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

const maxUncounted = 256

let processNumbers: Registry | undefined

// There is one process however many gateways are in it, and measuring it costs something; so it begins when somebody asks.
function ofProcess(): Registry {
  if (processNumbers === undefined) {
    processNumbers = new Registry()
    collectDefaultMetrics({ register: processNumbers })
  }
  return processNumbers
}

/** What can be read of a gateway when somebody asks for its numbers. */
export interface MetricSources {
  readonly gateway: {
    readonly upstreams: { statuses(): readonly UpstreamStatus[] }
    readonly findings: { of(upstream: string): readonly { readonly rule: string }[] }
    savings(): Promise<{ readonly allTokens: number; readonly listedTokens: number }>
  }
  readonly sessions: () => number
  readonly subscriptions: () => number
}

/** The numbers of one gateway, as Prometheus reads them. */
export class PrometheusMetrics {
  readonly #registry = new Registry()
  readonly #uncounted: UpstreamEvents['call'][] = []
  readonly #calls = this.#counter('unfold_calls_total', 'Calls of tools, by how they ended', ['upstream', 'outcome'])
  readonly #callSeconds = this.#histogram('unfold_call_seconds', 'How long calls of tools took')
  readonly #changes = this.#counter('unfold_tool_changes_total', 'Tools that changed', ['upstream', 'kind'])
  readonly #changeSeconds = this.#histogram('unfold_change_seconds', 'From hearing of a change to having followed it')
  readonly #discoveries = this.#counter('unfold_discoveries_total', 'Lists of tools that were read', ['upstream', 'outcome'])
  readonly #notices = this.#counter('unfold_notices_total', 'Changes that servers announced', ['upstream'])
  readonly #refused = this.#counter('unfold_calls_refused_total', 'Calls that were over the rate of a client', [])

  /** Counts a call, with others: to count many at once costs each of them less. */
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

  notice({ upstream }: UpstreamEvents['notice']): void {
    this.#notices.inc({ upstream })
  }

  refused(): void {
    this.#refused.inc()
  }

  /** Reads from now on what is true at the moment of asking. */
  measure({ gateway, sessions, subscriptions }: MetricSources): void {
    const each = (name: string, help: string, value: (status: UpstreamStatus) => number): void =>
      this.#gauge(name, help, ['upstream'], (gauge) => {
        for (const status of gateway.upstreams.statuses()) gauge.set({ upstream: status.name }, value(status))
      })
    this.#gauge('unfold_info', 'The version of the gateway', ['version'], (gauge) => gauge.set({ version }, 1))
    this.#gauge('unfold_upstream_state', 'The state that each server is in', ['upstream', 'state'], (gauge) => {
      for (const { name, state } of gateway.upstreams.statuses()) gauge.set({ upstream: name, state }, 1)
    })
    each('unfold_upstream_tools', 'Tools of each server', ({ tools }) => tools)
    each('unfold_upstream_calls_running', 'Calls that each server is answering', ({ calls }) => calls.running)
    each('unfold_upstream_calls_waiting', 'Calls that wait for their turn', ({ calls }) => calls.waiting)
    this.#gauge('unfold_upstream_suspicions', 'Texts of each server that look suspicious', ['upstream', 'rule'], (gauge) => {
      for (const { name } of gateway.upstreams.statuses())
        for (const { rule } of gateway.findings.of(name)) gauge.inc({ upstream: name, rule })
    })
    this.#gauge('unfold_sessions', 'Clients with a session', [], (gauge) => gauge.set(sessions()))
    this.#gauge('unfold_subscriptions', 'Clients without a session that listen for changes', [], (gauge) =>
      gauge.set(subscriptions()),
    )
    this.#gauge(
      'unfold_list_tokens',
      'What a list costs: all tools, and what a client is listed first',
      ['part'],
      async (gauge) => {
        const { allTokens, listedTokens } = await gateway.savings()
        gauge.set({ part: 'whole' }, allTokens)
        gauge.set({ part: 'listed' }, listedTokens)
      },
    )
  }

  async text(): Promise<string> {
    this.#count()
    return `${await this.#registry.metrics()}\n${await ofProcess().metrics()}`
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
        // Servers that are gone are not told of any more.
        this.reset()
        await collect(this)
      },
    })
  }
}
