import { printable, type Tool } from '@unfold-mcp/core'
import type { Log, LogLevel } from '../base/log.ts'
import { TokenBucket } from '../base/token-bucket.ts'
import type { EventStream, UpstreamEvent, UpstreamEvents, UpstreamState } from '../upstreams/events.ts'
import type { Journal } from './journal.ts'
import type { Redactor } from './redactor.ts'

const maxNames = 50
// Repeated notifications within this time are logged at debug level.
const notificationIntervalMs = 1_000

const levels: { readonly [S in UpstreamState]: LogLevel } = {
  starting: 'debug',
  installing: 'info',
  ready: 'debug',
  // `list_failed` is logged on its own.
  degraded: 'debug',
  reconnecting: 'warn',
  needs_login: 'warn',
  failed: 'error',
  disabled: 'info',
  idle: 'info',
  stopped: 'debug',
}

const stateNames: { readonly [S in UpstreamState]: string } = {
  starting: 'starting',
  installing: 'installing',
  ready: 'ready',
  degraded: 'ready, tools/list failed',
  reconnecting: 'reconnecting',
  needs_login: 'requires authentication',
  failed: 'failed',
  disabled: 'disabled',
  idle: 'idle, starts on first call',
  stopped: 'stopped',
}

// Events that a server can cause at any rate.
const rateLimitedEvents: ReadonlySet<keyof UpstreamEvents> = new Set(['list_changed', 'stderr', 'log', 'documents', 'warning'])
const lineLimit = { capacity: 1_000, refill: 100, everyMs: 1_000 }

interface Line {
  readonly level: LogLevel
  readonly message: string
}

type Lines = { readonly [E in keyof UpstreamEvents]: (event: UpstreamEvents[E]) => Line | undefined }

/** Logs and records upstream events. Returns a function that stops it. */
export function logUpstreams(
  events: EventStream,
  { log, journal, redactor, now = () => performance.now() }: UpstreamLogOptions,
): () => void {
  const lastNotifications = new Map<string, number>()
  const isFrequent = (upstream: string): boolean => {
    const last = lastNotifications.get(upstream)
    lastNotifications.set(upstream, now())
    return last !== undefined && now() - last < notificationIntervalMs
  }
  // A repeated error is logged once, not at every attempt.
  const lastErrors = new Map<string, string>()
  const lines: Lines = {
    state: ({ upstream, state, error, attempt, retryInMs }) => {
      const key = `${state}: ${error ?? ''}`
      const isRepeated = lastErrors.get(upstream) === key
      if (error !== undefined) lastErrors.set(upstream, key)
      const current = attempt === undefined ? [] : [`attempt ${attempt}`]
      const next = retryInMs === undefined ? [] : [`next attempt in ${duration(retryInMs)}`]
      const message =
        error === undefined ? [stateNames[state], ...current].join(', ') : `${error} (${[...current, ...next].join(', ')})`
      return { level: isRepeated ? 'debug' : levels[state], message }
    },
    installing: ({ attempt, ms }) => ({
      level: 'info',
      message: `installing, ${duration(Math.round(ms / 1_000) * 1_000)}, attempt ${attempt}`,
    }),
    installed: ({ ms }) => ({ level: 'info', message: `installed in ${duration(ms)}` }),
    connected: ({ upstream, server, protocolVersion, announcesChanges, ms }) => {
      lastErrors.delete(upstream)
      const changes = announcesChanges ? 'announces tool changes' : 'does not announce tool changes, polling'
      return { level: 'info', message: `connected: ${printable(server)}, ${protocolVersion}, ${changes} (${ms} ms)` }
    },
    listed: ({ total, ms }) => ({ level: 'info', message: `${total} ${total === 1 ? 'tool' : 'tools'} (${ms} ms)` }),
    list_changed: ({ upstream, isDeclared }) => ({
      level: isFrequent(upstream) ? 'debug' : 'info',
      message: `tools/list_changed received${isDeclared ? '' : ' (not declared in its capabilities)'}`,
    }),
    tools: ({ added, changed, removed, ms }) => ({
      level: 'info',
      message: `tools changed: +${added} -${removed} ~${changed} (${ms} ms)`,
    }),
    list_failed: ({ error, attempt, retryInMs }) => ({
      level: 'warn',
      message: `tools/list failed: ${error} (attempt ${attempt}, next attempt in ${duration(retryInMs)})`,
    }),
    throttled: ({ delayMs }) => ({
      level: 'warn',
      message: `announces changes too often: tools/list at most every ${duration(delayMs)}`,
    }),
    slowed: ({ costMs, delayMs }) => ({
      level: 'warn',
      message:
        `changes often and each refresh takes ${duration(costMs)}: it is refreshed at most every ${duration(delayMs)}. ` +
        'Limit its tools with "allow" in unfold.json, or make the server announce fewer changes',
    }),
    // Logged by the audit middleware.
    call: () => undefined,
    stderr: ({ line }) => ({ level: 'debug', message: `stderr: ${printable(line, 2_000)}` }),
    log: ({ entry: { level, data } }) => ({ level: 'debug', message: `log (${level}): ${printable(textOf(data), 2_000)}` }),
    documents: ({ notice: { kind } }) => ({ level: 'debug', message: `prompts or resources may have changed (${kind})` }),
    warning: ({ message }) => ({ level: 'warn', message }),
  }
  const buckets = new Map<string, TokenBucket>()
  const isRateLimited = (upstream: string): boolean => {
    const bucket = buckets.get(upstream) ?? new TokenBucket({ ...lineLimit, now })
    buckets.set(upstream, bucket)
    return !bucket.tryTake(1)
  }
  const truncated = new Set<string>()
  return events.all((event) => {
    const { type, upstream } = event
    if (rateLimitedEvents.has(type) && isRateLimited(upstream)) {
      if (!truncated.has(upstream)) log.warn({ upstream }, 'too much output: some log lines are dropped')
      truncated.add(upstream)
      return
    }
    record(event, journal, redactor)
    const line = (lines[event.type] as (event: UpstreamEvent) => Line | undefined)(event)
    if (line !== undefined) log[line.level]({ upstream: event.upstream, event: event.type, ...scalarsOf(event) }, line.message)
  })
}

interface UpstreamLogOptions {
  readonly log: Log
  readonly journal: Journal
  readonly redactor: Redactor
  readonly now?: () => number
}

function record(event: UpstreamEvent, journal: Journal, redactor: Redactor): void {
  if (event.type === 'stderr') {
    const { upstream, line } = event
    journal.write('stderr', { upstream, line: redactor.text(printable(line, 2_000)) })
  }
  if (event.type === 'state') {
    const { upstream, state, error, attempt, retryInMs } = event
    const cause = error === undefined ? {} : { error: redactor.text(error) }
    const next = { ...(attempt !== undefined && { attempt }), ...(retryInMs !== undefined && { retryInMs }) }
    journal.write('state', { upstream, state, ...cause, ...next })
  }
  if (event.type !== 'tools') return
  const { upstream, added, changed, removed, reads, ms, difference } = event
  const namesOf = (tools: readonly Tool[]): readonly string[] => tools.slice(0, maxNames).map(({ name }) => printable(name))
  const names = {
    added: namesOf(difference.added),
    changed: namesOf(difference.changed.map(({ after }) => after)),
    removed: namesOf(difference.removed),
  }
  journal.write('change', { upstream, added, changed, removed, reads, ms, names })
}

/** Scalar fields of an event, for structured logs. */
function scalarsOf(event: UpstreamEvent): object {
  return Object.fromEntries(
    Object.entries(event).filter(
      ([key, value]) =>
        key !== 'type' && key !== 'line' && key !== 'error' && ['number', 'string', 'boolean'].includes(typeof value),
    ),
  )
}

const duration = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`)

const textOf = (data: unknown): string => (typeof data === 'string' ? data : (JSON.stringify(data) ?? ''))
