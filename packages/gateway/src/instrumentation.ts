import { resolve } from 'node:path'
import { counted } from '@unfold-mcp/core'
import { AuditLog } from './audit/audit-log.ts'
import { recordTrust } from './audited-trust.ts'
import type { Log } from './base/log.ts'
import type { ReadConfig } from './config/read.ts'
import type { Config } from './config/schema.ts'
import type { Environment } from './config/variables.ts'
import type { GatewayOptions } from './gateway/gateway.ts'
import { resultInspector } from './inspection/result-inspector.ts'
import { auditCalls } from './middleware/audit.ts'
import { CallGate } from './middleware/call-gate.ts'
import { shareCalls } from './middleware/call-shares.ts'
import { RateLimiter, type SharedBuckets } from './middleware/rate-limiter.ts'
import { traceCalls } from './middleware/tracing.ts'
import { approvalRecord, logApproval } from './observability/approval-log.ts'
import { DegradedParts } from './observability/degraded-parts.ts'
import { Journal } from './observability/journal.ts'
import { Metrics } from './observability/metrics.ts'
import { redactedLog } from './observability/redacted-log.ts'
import { Redactor, secretVariables } from './observability/redactor.ts'
import { loadTelemetry, type Telemetry, traceDiscoveries } from './observability/telemetry.ts'
import { trustLog } from './observability/trust-log.ts'
import { logUpstreams } from './observability/upstream-log.ts'

type InstrumentationHooks = Pick<
  GatewayOptions,
  'middleware' | 'admit' | 'rejected' | 'observe' | 'inspect' | 'onTrust' | 'onApproval' | 'redact' | 'scriptRan'
>

/** Log, journal, metrics, tracing and audit of one gateway. */
export class Instrumentation {
  readonly redactor = new Redactor()
  readonly journal = new Journal()
  readonly metrics = new Metrics()
  readonly gate = new CallGate()
  readonly log: Log
  readonly degraded: DegradedParts
  readonly #telemetry: Telemetry | undefined
  readonly #rawLog: Log
  #audit: AuditLog | undefined

  static async create(
    log: Log,
    { read, environment, folder }: { readonly read: ReadConfig; readonly environment: Environment; readonly folder: string },
  ): Promise<Instrumentation> {
    const instrumentation = new Instrumentation(log, await loadTelemetry())
    instrumentation.redactor.add(secretVariables(environment))
    instrumentation.hide(read)
    const { audit } = read.config
    if (audit === undefined) return instrumentation
    const onStatus = (problem: string | undefined): void => instrumentation.degraded.update('audit', problem)
    const { redactor } = instrumentation
    instrumentation.#audit = new AuditLog({ path: resolve(folder, audit.path), config: audit, redactor, onStatus })
    await instrumentation.#audit.open(read.config)
    return instrumentation
  }

  private constructor(log: Log, telemetry: Telemetry | undefined) {
    this.#rawLog = log
    this.log = redactedLog(log, this)
    this.degraded = new DegradedParts(this.log)
    this.#telemetry = telemetry
  }

  /** The audit log, if one is configured. */
  get audit(): AuditLog | undefined {
    return this.#audit
  }

  /** Redacts the secrets of a configuration from now on. */
  hide({ config, secrets }: ReadConfig): void {
    this.redactor.addConfig(config)
    this.redactor.add(secrets.flatMap(partsOf))
  }

  /** Gateway options that connect this instrumentation. */
  hooks(config: () => Config, buckets?: SharedBuckets): InstrumentationHooks {
    const rateLimiter = new RateLimiter({ perMinute: () => config().limits.callsPerMinute, onLimited: this.metrics.rateLimited })
    const { journal, redactor, audit } = this
    const logTrust = trustLog(this)
    const record = auditCalls({ log: this.#rawLog, journal, redactor, audit })
    return {
      middleware: [record, this.gate.middleware, shareCalls(() => config().limits.calls), traceCalls(this.#telemetry)],
      admit: (call) => (buckets === undefined ? rateLimiter.admit(call) : rateLimiter.admitShared(buckets, call)),
      ...(audit !== undefined && {
        rejected: ({ reason, tool, arguments: input, ...caller }) => audit.rejection(caller, { tool, input, outcome: reason }),
      }),
      inspect: resultInspector({ config, redactor, log: this.log, journal, metrics: this.metrics, audit }),
      onTrust: (event) => {
        logTrust(event)
        if (audit !== undefined) recordTrust(audit, event)
      },
      onApproval: (event) => {
        logApproval(this.log, event)
        if (event.outcome !== 'asked') void audit?.event(approvalRecord(event))
      },
      redact: (value) => redactor.data(value),
      scriptRan: (ran) => {
        const { run, stored, outcome, calls, ms, principal } = ran
        const client = redactor.name(principal?.id ?? 'anonymous')
        this.log.info(
          { script: run, ...(stored !== undefined && { stored }), outcome, calls, ms, client },
          `script ${stored === undefined ? '' : `${stored} `}${outcome}, ${counted(calls, 'call')}, ${ms} ms (${client})`,
        )
        audit?.script(ran)
      },
      observe: ({ events }) => {
        logUpstreams(events, this)
        this.metrics.follow(events)
        if (this.#telemetry !== undefined) traceDiscoveries(events, this.#telemetry)
      },
    }
  }

  async close(): Promise<void> {
    await this.#audit?.close()
  }
}

// Servers log a key of several lines line by line.
const minLineLength = 16

const partsOf = (secret: string): readonly string[] => [
  secret,
  ...secret.split(/\r?\n/u).filter((line) => line.length >= minLineLength && !line.startsWith('-----')),
]
