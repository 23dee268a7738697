import { printable } from '@unfold-mcp/core'
import type { Log, LogLevel } from '../base/log.ts'
import type { Journal } from './journal.ts'
import type { Redactor } from './redactor.ts'

/** The same log without secrets in it; what is told is also kept for a while. */
export function redactedLog(log: Log, { secrets, journal }: { readonly secrets: Redactor; readonly journal: Journal }): Log {
  const at =
    (level: LogLevel) =>
    (data: object, message: string): void => {
      const told = { ...(secrets.data(data) as { readonly [key: string]: unknown }) }
      const text = secrets.text(message)
      const upstream = typeof told.upstream === 'string' ? { upstream: told.upstream } : {}
      journal.write('log', { level, message: printable(text, 2_000), ...upstream, data: told })
      log[level](told, text)
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
