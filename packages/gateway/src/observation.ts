import { resolve } from 'node:path'
import type { Log } from './base/log.ts'
import type { Config } from './config/schema.ts'
import type { Environment } from './config/variables.ts'
import type { GatewayOptions } from './gateway/gateway.ts'
import { audited } from './middleware/audit.ts'
import { Gate } from './middleware/gate.ts'
import { Rate } from './middleware/rate.ts'
import { traced } from './middleware/traced.ts'
import { AuditFile } from './observability/audit-file.ts'
import { Shortfalls } from './observability/degraded.ts'
import { Journal } from './observability/journal.ts'
import { Metrics } from './observability/metrics.ts'
import { toldLog } from './observability/redacted-log.ts'
import { Secrets, secretVariables } from './observability/secrets.ts'
import { loadTelemetry, type Telemetry, tellDiscoveries } from './observability/telemetry.ts'
import { tellUpstreams } from './observability/upstream-log.ts'

/** All by which a gateway is seen from outside, and what it takes to see it. */
export class Observation {
  readonly secrets = new Secrets()
  readonly journal = new Journal()
  readonly metrics = new Metrics()
  readonly gate = new Gate()
  readonly log: Log
  readonly shortfalls: Shortfalls
  readonly #telemetry: Telemetry | undefined
  readonly #told: Log
  #audit: AuditFile | undefined
  #isStrict = false

  static async begin(
    log: Log,
    { config, environment, folder }: { readonly config: Config; readonly environment: Environment; readonly folder: string },
  ): Promise<Observation> {
    const seen = new Observation(log, await loadTelemetry())
    seen.secrets.add(secretVariables(environment))
    seen.secrets.keep(config)
    const { audit } = config
    if (audit === undefined) return seen
    const told = (problem: string | undefined): void => seen.shortfalls.note('audit', problem)
    seen.#audit = new AuditFile(resolve(folder, audit.path), { told })
    seen.#isStrict = audit.onFailure === 'refuse'
    await seen.#audit.begin()
    return seen
  }

  private constructor(log: Log, telemetry: Telemetry | undefined) {
    this.#told = log
    this.log = toldLog(log, this)
    this.shortfalls = new Shortfalls(this.log)
    this.#telemetry = telemetry
  }

  /** What a gateway must be opened with to be seen. */
  hooks(config: () => Config): Pick<GatewayOptions, 'middleware' | 'admit' | 'observe'> {
    const rate = new Rate({ perMinute: () => config().limits.callsPerMinute, refused: this.metrics.refused })
    const { journal, secrets } = this
    const audit = audited({ log: this.#told, journal, secrets, file: this.#audit, isStrict: this.#isStrict })
    return {
      middleware: [this.gate.middleware, audit, traced(this.#telemetry)],
      admit: (call) => rate.admit(call),
      observe: ({ events }) => {
        tellUpstreams(events, this)
        this.metrics.follow(events)
        if (this.#telemetry !== undefined) tellDiscoveries(events, this.#telemetry)
      },
    }
  }

  /** Writes down what is left to be written. */
  async close(): Promise<void> {
    await this.#audit?.close()
  }
}
