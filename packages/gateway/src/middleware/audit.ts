import { jsonSize } from '../base/json-size.ts'
import type { Log } from '../base/log.ts'
import type { AuditFile } from '../observability/audit-file.ts'
import type { CallRecord, Journal } from '../observability/journal.ts'
import type { Redactor } from '../observability/redactor.ts'
import { UpstreamError } from '../upstreams/errors.ts'
import type { Middleware, ProxiedCall } from './chain.ts'
import { outcomeOf, reasonOf } from './outcome.ts'

export interface AuditOptions {
  /** Not redacted again: the records contain no secrets. */
  readonly log: Log
  readonly journal: Journal
  readonly redactor: Redactor
  readonly file?: AuditFile | undefined
  /** Rejects a call unless it was recorded before. */
  readonly isStrict?: boolean
}

/** Records every call with client, tool, duration, outcome and sizes, but without arguments and results. */
export function auditCalls(options: AuditOptions): Middleware {
  return async (call, next) => {
    const startedAt = performance.now()
    try {
      if (options.file !== undefined && options.isStrict === true) await recordBefore(options.file, call, options.redactor)
      const result = await next(call)
      recordCall(options, call, { startedAt, outcome: outcomeOf(result), received: jsonSize(result) })
      return result
    } catch (error) {
      recordCall(options, call, { startedAt, outcome: reasonOf(error), received: 0 })
      throw redactError(error, options.redactor)
    }
  }
}

async function recordBefore(file: AuditFile, call: ProxiedCall, redactor: Redactor): Promise<void> {
  if (await file.write({ ...callFields(call, redactor), outcome: 'called' })) return
  const detail =
    'was not called: the audit log cannot be written, and the gateway is configured to reject calls without it. The operator can check "unfold status".'
  throw new UpstreamError(call.upstream, 'refused', detail)
}

const callFields = (call: ProxiedCall, redactor: Redactor): Pick<CallRecord, 'client' | 'upstream' | 'tool'> => ({
  client: redactor.name(call.client?.id ?? 'anonymous'),
  upstream: call.upstream,
  tool: redactor.name(call.tool),
})

interface Outcome {
  readonly startedAt: number
  readonly outcome: string
  readonly received: number
}

function recordCall(
  { log, journal, redactor, file }: AuditOptions,
  call: ProxiedCall,
  { startedAt, outcome, received }: Outcome,
): void {
  const record: CallRecord = {
    ...callFields(call, redactor),
    ms: Math.round(performance.now() - startedAt),
    outcome,
    sentCharacters: jsonSize(call.input),
    receivedCharacters: received,
  }
  journal.write('call', record)
  void file?.write(record)
  const level = outcome === 'ok' || outcome === 'error' || outcome === 'input_required' ? 'info' : 'warn'
  const message = `${record.tool} ${outcome}, ${record.ms} ms (${record.client})`
  journal.write('log', { level, message, upstream: record.upstream, data: record })
  log[level](record, message)
}

// A server's error message may contain its secrets.
function redactError(error: unknown, redactor: Redactor): unknown {
  if (!(error instanceof UpstreamError)) return error
  const { upstream, reason, detail, retryAfterMs } = error
  const redacted = redactor.text(detail)
  if (redacted === detail) return error
  return new UpstreamError(upstream, reason, redacted, { ...(retryAfterMs !== undefined && { retryAfterMs }) })
}
