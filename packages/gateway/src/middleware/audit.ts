import { createHash, randomBytes } from 'node:crypto'
import type { InputRequiredResult } from '@modelcontextprotocol/server'
import type { AuditedCaller, AuditLog } from '../audit/audit-log.ts'
import { jsonSize } from '../base/json-size.ts'
import type { Log } from '../base/log.ts'
import type { CallRecord, Journal } from '../observability/journal.ts'
import type { Redactor } from '../observability/redactor.ts'
import { UpstreamError } from '../upstreams/errors.ts'
import type { CallStep, Middleware, ProxiedCall, ProxiedResult } from './chain.ts'
import { DeniedError } from './denied.ts'
import { outcomeOf, reasonOf } from './outcome.ts'
import { traceOf } from './trace.ts'

export interface AuditOptions {
  /** Not redacted again: the records contain no secrets. */
  readonly log: Log
  readonly journal: Journal
  readonly redactor: Redactor
  readonly audit?: AuditLog | undefined
}

/** Records every call with client, tool, duration, outcome and sizes; arguments only where the audit log is configured to. */
export function auditCalls(options: AuditOptions): Middleware {
  return async (call, next) => {
    const startedAt = performance.now()
    const id = options.audit === undefined ? '' : nextCallId()
    const steps = new CallSteps(startedAt)
    try {
      if (options.audit?.isStrict === true) await recordBefore(options.audit, call, id)
      const result = await next({ ...call, note: steps.note })
      recordCall(options, call, {
        id,
        startedAt,
        outcome: outcomeOf(result),
        received: jsonSize(result),
        ...steps.record(call, result),
      })
      return result
    } catch (error) {
      const rule = error instanceof DeniedError ? error.rule : undefined
      recordCall(options, call, { id, startedAt, outcome: reasonOf(error), received: 0, rule, ...steps.record(call) })
      throw redactError(error, options.redactor)
    }
  }
}

async function recordBefore(audit: AuditLog, call: ProxiedCall, id: string): Promise<void> {
  if (await audit.call(callerOf(call), { ...auditedCall(call, id), outcome: 'called' })) return
  const detail =
    'was not called: the audit log cannot be written, and the gateway is configured to reject calls without it. The operator can check "unfold status".'
  throw new UpstreamError(call.upstream, 'refused', detail)
}

const prefix = randomBytes(4).toString('hex')
let calls = 0

const nextCallId = (): string => `${prefix}-${++calls}`

const callerOf = ({ client, ctx }: ProxiedCall): AuditedCaller => ({
  principal: client,
  scope: ctx.scope,
  era: ctx.era,
  client: ctx.client,
})

function auditedCall({ upstream, tool, input, ctx }: ProxiedCall, id: string) {
  const trace = traceOf(ctx.meta)
  const { script } = ctx
  return {
    upstream,
    tool,
    input,
    call: id,
    ...(trace !== undefined && { parent: trace.traceparent }),
    ...(script !== undefined && { script: script.run, ...(script.line !== undefined && { line: script.line }) }),
  }
}

interface Outcome extends Pick<CallRecord, 'steps' | 'asked' | 'continues'> {
  readonly id: string
  readonly startedAt: number
  readonly outcome: string
  readonly received: number
  readonly rule?: string | undefined
}

const maxSteps = 50

/** What a call waited for. */
class CallSteps {
  readonly #startedAt: number
  #steps: { readonly step: CallStep; readonly ms: number }[] | undefined

  constructor(startedAt: number) {
    this.#startedAt = startedAt
  }

  readonly note = (step: CallStep): void => {
    this.#steps ??= []
    if (this.#steps.length < maxSteps) this.#steps.push({ step, ms: Math.round(performance.now() - this.#startedAt) })
  }

  /** Most calls are only sent, which says nothing. */
  record({ ctx: { requestState } }: ProxiedCall, result?: ProxiedResult): Pick<CallRecord, 'steps' | 'asked' | 'continues'> {
    const steps = this.#steps?.some(({ step }) => step !== 'sent') === true ? this.#steps : undefined
    const asked = result !== undefined && isInputRequired(result) ? result.requestState : undefined
    return {
      ...(steps !== undefined && { steps }),
      ...(asked !== undefined && { asked: referenceOf(asked) }),
      ...(requestState !== undefined && { continues: referenceOf(requestState) }),
    }
  }
}

/** Connects two requests without storing the state, which is secret. */
const referenceOf = (state: string): string => createHash('sha256').update(state).digest('hex').slice(0, 16)

const isInputRequired = (result: ProxiedResult): result is InputRequiredResult =>
  'resultType' in result && result.resultType === 'input_required'

function recordCall(
  { log, journal, redactor, audit }: AuditOptions,
  call: ProxiedCall,
  { id, startedAt, outcome, received, rule, steps, asked, continues }: Outcome,
): void {
  const measured = {
    ms: Math.round(performance.now() - startedAt),
    outcome,
    sentCharacters: jsonSize(call.input),
    receivedCharacters: received,
    ...(rule !== undefined && { rule }),
  }
  const record: CallRecord = {
    client: redactor.name(call.client?.id ?? 'anonymous'),
    upstream: call.upstream,
    tool: redactor.name(call.tool),
    ...measured,
  }
  journal.write('call', {
    ...record,
    ...(steps !== undefined && { steps }),
    ...(asked !== undefined && { asked }),
    ...(continues !== undefined && { continues }),
  })
  void audit?.call(callerOf(call), { ...auditedCall(call, id), ...measured })
  const level = outcome === 'ok' || outcome === 'error' || outcome === 'input_required' ? 'info' : 'warn'
  const message = `${record.tool} ${outcome}${rule === undefined ? '' : ` by ${rule}`}, ${record.ms} ms (${record.client})`
  journal.write('log', { level, message, upstream: record.upstream, data: record })
  log[level](record, message)
}

// A server's error message may contain its secrets.
function redactError(error: unknown, redactor: Redactor): unknown {
  if (!(error instanceof UpstreamError)) return error
  const { upstream, kind, detail, retryAfterMs } = error
  const redacted = redactor.text(detail)
  if (redacted === detail) return error
  return new UpstreamError(upstream, kind, redacted, { ...(retryAfterMs !== undefined && { retryAfterMs }) })
}
