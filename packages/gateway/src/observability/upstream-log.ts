import { printable, type Tool } from '@unfold-mcp/core'
import type { Log, LogLevel } from '../base/log.ts'
import { TokenBucket } from '../base/token-bucket.ts'
import type { EventStream, UpstreamEvent, UpstreamEvents, UpstreamState } from '../upstreams/events.ts'
import type { Journal } from './journal.ts'
import type { Redactor } from './redactor.ts'

const maxNames = 50
// A server that says so all the time would fill the log with it.
const noticeEveryMs = 1_000

const levels: { readonly [S in UpstreamState]: LogLevel } = {
  starting: 'debug',
  installing: 'info',
  ready: 'debug',
  // That `tools/list` failed is said by itself.
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
  needs_login: 'needs a login',
  failed: 'failed',
  disabled: 'disabled',
  idle: 'idle until its first call',
  stopped: 'stopped',
}

// What a server can say as often as it likes.
const chatty: ReadonlySet<keyof UpstreamEvents> = new Set(['notice', 'stderr', 'log', 'documents', 'warning'])
const maxLogLines = { capacity: 1_000, refill: 100, everyMs: 1_000 }

interface Line {
  readonly level: LogLevel
  readonly message: string
}

type Lines = { readonly [E in keyof UpstreamEvents]: (event: UpstreamEvents[E]) => Line | undefined }

/** Tells the log and the journal of all that happens to the servers, until what is returned is called. */
export function logUpstreams(events: EventStream, { log, journal, secrets, now = () => performance.now() }: UpstreamLogOptions): () => void {
  const noticed = new Map<string, number>()
  const isSeldom = (upstream: string): boolean => {
    const last = noticed.get(upstream)
    noticed.set(upstream, now())
    return last === undefined || now() - last >= noticeEveryMs
  }
  // The trouble that each server is in, which is told once and not at every attempt.
  const lastErrors = new Map<string, string>()
  const lines: Lines = {
    state: ({ upstream, state, error, attempt, retryInMs }) => {
      const trouble = `${state}: ${error ?? ''}`
      const isKnown = lastErrors.get(upstream) === trouble
      if (error !== undefined) lastErrors.set(upstream, trouble)
      const which = attempt === undefined ? [] : [`attempt ${attempt}`]
      const next = retryInMs === undefined ? [] : [`next attempt in ${seconds(retryInMs)}`]
      const message = error === undefined ? [stateNames[state], ...which].join(', ') : `${error} (${[...which, ...next].join(', ')})`
      return { level: isKnown ? 'debug' : levels[state], message }
    },
    installing: ({ attempt, ms }) => ({
      level: 'info',
      message: `installing, ${seconds(Math.round(ms / 1_000) * 1_000)}, attempt ${attempt}`,
    }),
    installed: ({ ms }) => ({ level: 'info', message: `installed in ${seconds(ms)}` }),
    connected: ({ upstream, server, protocolVersion, announcesChanges, ms }) => {
      lastErrors.delete(upstream)
      const how = announcesChanges
        ? 'announces changes of its tools'
        : 'does not announce changes: its tools are read now and then'
      return { level: 'info', message: `is connected (${printable(server)}, ${protocolVersion}, ${ms} ms), and ${how}.` }
    },
    listed: ({ total, ms }) => ({ level: 'info', message: `has ${total} ${total === 1 ? 'tool' : 'tools'}, read in ${ms} ms.` }),
    notice: ({ upstream, isDeclared }) => {
      const undeclared = isDeclared ? '' : ' It had not declared that it would.'
      return { level: isSeldom(upstream) ? 'info' : 'debug', message: `says that its tools changed.${undeclared}` }
    },
    tools: ({ added, changed, removed, ms }) => ({
      level: 'info',
      message: `has other tools: ${countsOf({ added, changed, removed })}, followed in ${ms} ms.`,
    }),
    list_failed: ({ error, attempt, retryInMs }) => ({
      level: 'warn',
      message: `tools/list failed: ${error} (attempt ${attempt}, next attempt in ${seconds(retryInMs)})`,
    }),
    throttled: ({ delayMs }) => ({
      level: 'warn',
      message: `never stops announcing changes, and is asked for its tools at maxNames every ${seconds(delayMs)} now.`,
    }),
    // The audit has them.
    call: () => undefined,
    stderr: ({ line }) => ({ level: 'debug', message: `wrote: ${printable(line, 2_000)}` }),
    log: ({ entry: { level, data } }) => ({ level: 'debug', message: `logged (${level}): ${printable(textOf(data), 2_000)}` }),
    documents: ({ notice: { kind } }) => ({ level: 'debug', message: `may have other documents (${kind}).` }),
    warning: ({ message }) => ({ level: 'warn', message }),
  }
  const buckets = new Map<string, TokenBucket>()
  const isRateLimited = (upstream: string): boolean => {
    const bucket = buckets.get(upstream) ?? new TokenBucket({ ...maxLogLines, now })
    buckets.set(upstream, bucket)
    return !bucket.tryTake(1)
  }
  const cut = new Set<string>()
  return events.all((event) => {
    const { type, upstream } = event
    if (chatty.has(type) && isRateLimited(upstream)) {
      if (!cut.has(upstream)) log.warn({ upstream }, 'says more than anybody reads: a part of it is not in the log.')
      cut.add(upstream)
      return
    }
    record(event, journal, secrets)
    const line = (lines[event.type] as (event: UpstreamEvent) => Line | undefined)(event)
    if (line !== undefined) log[line.level]({ upstream: event.upstream, event: event.type, ...numbersOf(event) }, line.message)
  })
}

interface UpstreamLogOptions {
  readonly log: Log
  readonly journal: Journal
  readonly secrets: Redactor
  readonly now?: () => number
}

function record(event: UpstreamEvent, journal: Journal, secrets: Redactor): void {
  if (event.type === 'stderr') {
    const { upstream, line } = event
    journal.write('stderr', { upstream, line: secrets.text(printable(line, 2_000)) })
  }
  if (event.type === 'state') {
    const { upstream, state, error, attempt, retryInMs } = event
    const why = error === undefined ? {} : { error: secrets.text(error) }
    const next = { ...(attempt !== undefined && { attempt }), ...(retryInMs !== undefined && { retryInMs }) }
    journal.write('state', { upstream, state, ...why, ...next })
  }
  if (event.type !== 'tools') return
  const { upstream, added, changed, removed, reads, ms, difference } = event
  const few = (tools: readonly Tool[]): readonly string[] => tools.slice(0, maxNames).map(({ name }) => printable(name))
  const names = {
    added: few(difference.added),
    changed: few(difference.changed.map(({ after }) => after)),
    removed: few(difference.removed),
  }
  journal.write('change', { upstream, added, changed, removed, reads, ms, names })
}

const countsOf = (counts: { readonly [what: string]: number }): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ')

/** The plain numbers and words of an event, for programs that read the log. */
function numbersOf(event: UpstreamEvent): object {
  return Object.fromEntries(
    Object.entries(event).filter(
      ([key, value]) =>
        key !== 'type' && key !== 'line' && key !== 'error' && ['number', 'string', 'boolean'].includes(typeof value),
    ),
  )
}

const seconds = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`)

const textOf = (data: unknown): string => (typeof data === 'string' ? data : (JSON.stringify(data) ?? ''))
