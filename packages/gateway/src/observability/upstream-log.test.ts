import { expect, test } from 'vitest'
import { EventStream } from '../upstreams/events.ts'
import { Journal } from './journal.ts'
import { Redactor } from './redactor.ts'
import { logUpstreams } from './upstream-log.ts'

test('an error is logged once and not at every attempt, until it changes or the server recovers', () => {
  const events = new EventStream()
  const lines: string[] = []
  const at = (level: string) => (_data: object, message: string) => void lines.push(`${level} ${message}`)
  const log = { debug: () => undefined, info: at('info'), warn: at('warn'), error: at('error') }
  logUpstreams(events, { log, journal: new Journal(), redactor: new Redactor() })
  const fails = (state: 'reconnecting' | 'failed', error: string): void =>
    events.emit('state', { upstream: 'a', state, error, attempt: 1, retryInMs: 1_500 })
  fails('reconnecting', 'It is away.')
  events.emit('state', { upstream: 'a', state: 'starting' })
  fails('reconnecting', 'It is away.')
  fails('failed', 'It is away.')
  fails('failed', 'It is away.')
  fails('failed', 'It is broken.')
  events.emit('connected', {
    upstream: 'a',
    server: 's',
    protocolVersion: '2025-11-25',
    announcesChanges: true,
    ms: 1,
  })
  fails('failed', 'It is broken.')
  expect(lines).toEqual([
    'warn It is away. (attempt 1, next attempt in 1.5 s)',
    'error It is away. (attempt 1, next attempt in 1.5 s)',
    'error It is broken. (attempt 1, next attempt in 1.5 s)',
    'info connected: s, 2025-11-25, announces tool changes (1 ms)',
    'error It is broken. (attempt 1, next attempt in 1.5 s)',
  ])
})
