import type { Config } from '../config/schema.ts'
import type { Environment } from '../config/variables.ts'
import type { GatewayOptions } from '../gateway.ts'
import type { Log } from '../log.ts'
import { audited } from '../middleware/audit.ts'
import { Gate } from '../middleware/gate.ts'
import { Rate } from '../middleware/rate.ts'
import { traced } from '../middleware/traced.ts'
import { Journal } from './journal.ts'
import { Metrics } from './metrics.ts'
import { Secrets, secretVariables } from './secrets.ts'
import { loadTelemetry, type Telemetry, tellDiscoveries } from './telemetry.ts'
import { toldLog } from './told-log.ts'
import { tellUpstreams } from './upstream-lines.ts'

/** All by which a gateway is seen from outside, and what it takes to see it. */
export class Observation {
  readonly secrets = new Secrets()
  readonly journal = new Journal()
  readonly metrics = new Metrics()
  readonly gate = new Gate()
  readonly log: Log
  readonly #telemetry: Telemetry | undefined
  readonly #told: Log

  static async begin(
    log: Log,
    { config, environment }: { readonly config: Config; readonly environment: Environment },
  ): Promise<Observation> {
    const seen = new Observation(log, await loadTelemetry())
    seen.secrets.add(secretVariables(environment))
    seen.secrets.keep(config)
    return seen
  }

  private constructor(log: Log, telemetry: Telemetry | undefined) {
    this.#told = log
    this.log = toldLog(log, this)
    this.#telemetry = telemetry
  }

  /** What a gateway must be opened with to be seen. */
  hooks(config: () => Config): Pick<GatewayOptions, 'middleware' | 'admit' | 'observe'> {
    const rate = new Rate({ perMinute: () => config().limits.callsPerMinute, refused: this.metrics.refused })
    const { journal, secrets } = this
    return {
      middleware: [this.gate.middleware, audited({ log: this.#told, journal, secrets }), traced(this.#telemetry)],
      admit: (call) => rate.admit(call),
      observe: ({ events }) => {
        tellUpstreams(events, this)
        this.metrics.follow(events)
        if (this.#telemetry !== undefined) tellDiscoveries(events, this.#telemetry)
      },
    }
  }
}
