import { printable } from '@unfold-mcp/core'
import type { Log, LogLevel } from '../base/log.ts'
import type { Journal } from './journal.ts'
import type { Redactor } from './redactor.ts'

/** Wraps a log: redacts secrets, and copies every line to the journal. */
export function redactedLog(log: Log, { redactor, journal }: { readonly redactor: Redactor; readonly journal: Journal }): Log {
  const at =
    (level: LogLevel) =>
    (data: object, message: string): void => {
      const redacted = { ...(redactor.data(data) as { readonly [key: string]: unknown }) }
      const text = redactor.text(message)
      const upstream = typeof redacted.upstream === 'string' ? { upstream: redacted.upstream } : {}
      journal.write('log', { level, message: printable(text, 2_000), ...upstream, data: redacted })
      log[level](redacted, text)
    }
  const { problem } = log
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    ...(problem !== undefined && { problem }),
  }
}
