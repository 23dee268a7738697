import { sizeOf } from '../base/json-size.ts'
import type { Log } from '../base/log.ts'
import type { AuditFile } from '../observability/audit-file.ts'
import type { CallRecord, Journal } from '../observability/journal.ts'
import type { Redactor } from '../observability/redactor.ts'
import { UpstreamError } from '../upstreams/errors.ts'
import type { Middleware, ProxiedCall } from './chain.ts'
import { outcomeOf, reasonOf } from './outcome.ts'

export interface AuditOptions {
  /** Told as it is: there is no secret in what is written here. */
  readonly log: Log
  readonly journal: Journal
  readonly secrets: Redactor
  /** Where it is written to stay. */
  readonly file?: AuditFile | undefined
  /** Whether a call that cannot be written down before it is made is refused. */
  readonly isStrict?: boolean
}

/** Writes down every call: who called what, how long it took, how it ended, how much went to and fro; never with what. */
export function audited(options: AuditOptions): Middleware {
  return async (call, next) => {
    const begun = performance.now()
    try {
      if (options.file !== undefined && options.isStrict === true) await writtenBefore(options.file, call, options.secrets)
      const result = await next(call)
      tell(options, call, { begun, outcome: outcomeOf(result), received: sizeOf(result) })
      return result
    } catch (error) {
      tell(options, call, { begun, outcome: reasonOf(error), received: 0 })
      throw redact(error, options.secrets)
    }
  }
}

async function writtenBefore(file: AuditFile, call: ProxiedCall, secrets: Redactor): Promise<void> {
  if (await file.write({ ...callOf(call, secrets), outcome: 'called' })) return
  const detail =
    'was not called: the gateway cannot write down what is called, and makes no call without that. Nothing was done. Ask the person who runs it to look at unfold status.'
  throw new UpstreamError(call.upstream, 'refused', detail)
}

const callOf = (call: ProxiedCall, secrets: Redactor): Pick<CallRecord, 'client' | 'upstream' | 'tool'> => ({
  client: secrets.name(call.client?.id ?? 'anybody'),
  upstream: call.upstream,
  tool: secrets.name(call.tool),
})

interface Ended {
  readonly begun: number
  readonly outcome: string
  readonly received: number
}

function tell({ log, journal, secrets, file }: AuditOptions, call: ProxiedCall, { begun, outcome, received }: Ended): void {
  const record: CallRecord = {
    ...callOf(call, secrets),
    ms: Math.round(performance.now() - begun),
    outcome,
    sentCharacters: sizeOf(call.input),
    receivedCharacters: received,
  }
  journal.write('call', record)
  void file?.write(record)
  const level = outcome === 'ok' || outcome === 'error' || outcome === 'input_required' ? 'info' : 'warn'
  const message = `answered ${record.client} on ${record.tool}: ${outcome}, ${record.ms} ms`
  journal.write('log', { level, message, upstream: record.upstream, data: record })
  log[level](record, message)
}

/** What went wrong may be told in the words of a server, which may hold what only it should know. */
function redact(error: unknown, secrets: Redactor): unknown {
  if (!(error instanceof UpstreamError)) return error
  const { upstream, reason, detail, retryAfterMs } = error
  const clean = secrets.text(detail)
  if (clean === detail) return error
  return new UpstreamError(upstream, reason, clean, { ...(retryAfterMs !== undefined && { retryAfterMs }) })
}
