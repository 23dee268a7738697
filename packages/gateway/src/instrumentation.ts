import { resolve } from 'node:path'
import type { Log } from './base/log.ts'
import type { Config } from './config/schema.ts'
import type { Environment } from './config/variables.ts'
import type { GatewayOptions } from './gateway/gateway.ts'
import { audited } from './middleware/audit.ts'
import { CallGate } from './middleware/gate.ts'
import { RateLimiter } from './middleware/rate.ts'
import { traced } from './middleware/traced.ts'
import { AuditFile } from './observability/audit-file.ts'
import { DegradedParts } from './observability/degraded.ts'
import { Journal } from './observability/journal.ts'
import { Metrics } from './observability/metrics.ts'
import { redactedLog } from './observability/redacted-log.ts'
import { Redactor, secretVariables } from './observability/redactor.ts'
import { loadTelemetry, type Telemetry, traceDiscoveries } from './observability/telemetry.ts'
import { logUpstreams } from './observability/upstream-log.ts'

/** All by which a gateway is instrumentation from outside, and what it takes to see it. */
export class Instrumentation {
  readonly secrets = new Redactor()
  readonly journal = new Journal()
  readonly metrics = new Metrics()
  readonly gate = new CallGate()
  readonly log: Log
  readonly degraded: DegradedParts
  readonly #telemetry: Telemetry | undefined
  readonly #told: Log
  #audit: AuditFile | undefined
  #isStrict = false

  static async create(
    log: Log,
    { config, environment, folder }: { readonly config: Config; readonly environment: Environment; readonly folder: string },
  ): Promise<Instrumentation> {
    const instrumentation = new Instrumentation(log, await loadTelemetry())
    instrumentation.secrets.add(secretVariables(environment))
    instrumentation.secrets.keep(config)
    const { audit } = config
    if (audit === undefined) return instrumentation
    const told = (problem: string | undefined): void => instrumentation.degraded.note('audit', problem)
    instrumentation.#audit = new AuditFile(resolve(folder, audit.path), { told })
    instrumentation.#isStrict = audit.onFailure === 'refuse'
    await instrumentation.#audit.begin()
    return instrumentation
  }

  private constructor(log: Log, telemetry: Telemetry | undefined) {
    this.#told = log
    this.log = redactedLog(log, this)
    this.degraded = new DegradedParts(this.log)
    this.#telemetry = telemetry
  }

  /** What a gateway must be opened with to be instrumentation. */
  hooks(config: () => Config): Pick<GatewayOptions, 'middleware' | 'admit' | 'observe'> {
    const rate = new RateLimiter({ perMinute: () => config().limits.callsPerMinute, refused: this.metrics.refused })
    const { journal, secrets } = this
    const audit = audited({ log: this.#told, journal, secrets, file: this.#audit, isStrict: this.#isStrict })
    return {
      middleware: [this.gate.middleware, audit, traced(this.#telemetry)],
      admit: (call) => rate.admit(call),
      observe: ({ events }) => {
        logUpstreams(events, this)
        this.metrics.follow(events)
        if (this.#telemetry !== undefined) traceDiscoveries(events, this.#telemetry)
      },
    }
  }

  /** Writes down what is left to be written. */
  async close(): Promise<void> {
    await this.#audit?.close()
  }
}
