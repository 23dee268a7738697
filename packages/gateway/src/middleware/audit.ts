import { isFailure, printable } from '@unfold-mcp/core'
import type { Log } from '../log.ts'
import type { CallRecord, Journal } from '../observing/journal.ts'
import type { Secrets } from '../observing/secrets.ts'
import { sizeOf } from '../results/size.ts'
import { UpstreamError } from '../upstreams/errors.ts'
import type { Middleware, PassingCall, PassingResult } from './chain.ts'

export interface AuditOptions {
  readonly log: Log
  readonly journal: Journal
  readonly secrets: Secrets
  readonly now?: () => number
}

/** Writes down every call: who called what, how long it took, how it ended, how much went to and fro; never with what. */
export function audited({ log, journal, secrets, now = () => performance.now() }: AuditOptions): Middleware {
  return async (call, next) => {
    const begun = now()
    const tell = (outcome: string, received: unknown): void => {
      const record: CallRecord = {
        client: call.client?.id ?? 'anybody',
        upstream: call.upstream,
        tool: printable(call.tool),
        ms: Math.round(now() - begun),
        outcome,
        sentCharacters: sizeOf(call.input),
        receivedCharacters: received === undefined ? 0 : sizeOf(received),
      }
      journal.write('call', record)
      const level = outcome === 'ok' || outcome === 'error' || outcome === 'input_required' ? 'info' : 'warn'
      log[level](record, `answered ${record.client} on ${record.tool}: ${outcome}, ${record.ms} ms`)
    }
    try {
      const result = await next(call)
      tell(outcomeOf(result), result)
      return result
    } catch (error) {
      tell(reasonOf(error), undefined)
      throw withoutSecrets(error, call, secrets)
    }
  }
}

function outcomeOf(result: PassingResult): string {
  if ('resultType' in result && result.resultType === 'input_required') return 'input_required'
  return 'isError' in result && result.isError === true ? 'error' : 'ok'
}

const reasonOf = (error: unknown): string => (error instanceof UpstreamError || isFailure(error) ? error.reason : 'failed')

/** What went wrong may be told in the words of a server, which may hold what only it should know. */
function withoutSecrets(error: unknown, { upstream }: PassingCall, secrets: Secrets): unknown {
  if (!(error instanceof UpstreamError)) return error
  const message = secrets.text(error.message)
  if (message === error.message) return error
  const { reason, retryAfterMs } = error
  const said = message.slice(message.indexOf('" ') + 2)
  return new UpstreamError(upstream, reason, said, { ...(retryAfterMs !== undefined && { retryAfterMs }) })
}
