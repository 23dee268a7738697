import { pathText, segmentsOf } from '../api/path.ts'
import type { Recording } from '../recording/recording.ts'
import { currentSeq, missedSince } from '../recording/sequence.ts'
import { type Kind, kinds, type LogEntry, type NetworkRequest } from '../records/records.ts'
import { truncate } from '../reply/reply.ts'
import { Groups, messageKey } from './groups.ts'

/** Changes since a sequence number. */
export interface Changes {
  readonly since: number
  /** Current sequence number, to pass as `since` later. */
  readonly latest: number
  /** Number of new records of each kind that are still buffered. */
  readonly counts: { readonly [K in Kind]: number }
  readonly errors: readonly MessageGroup[]
  readonly warnings: readonly MessageGroup[]
  readonly failures: readonly FailureGroup[]
  readonly endpoints: readonly { readonly method: string; readonly url: string; readonly calls: number }[]
  readonly navigations: readonly { readonly seq: number; readonly at: number; readonly url: string; readonly cause?: string }[]
  /** Number of groups and entries that are not shown. */
  readonly more?: { readonly [what: string]: number }
  /** Number of new records that were dropped already, by kind. */
  readonly gone?: { readonly [K in Kind]?: number }
  /** Summary as text. */
  readonly note?: string
}

/** Messages that differ only in numbers, ids and URLs. */
interface MessageGroup {
  readonly text: string
  readonly count: number
  readonly firstSeq: number
  readonly lastSeq: number
  readonly source?: string
  /** No similar message is buffered from before. */
  readonly isNew: boolean
}

/** Requests to one URL that failed in the same way. */
interface FailureGroup {
  readonly method: string
  readonly url: string
  /** 0 without a response. */
  readonly status: number
  readonly failure?: string
  readonly count: number
  readonly firstSeq: number
  readonly lastSeq: number
  /** No similar failure is buffered from before. */
  readonly isNew: boolean
}

const maxGroups = 500
const maxShown = 20

/** Returns the changes since a sequence number: `latest` of an earlier result, or 0 for everything. */
export function changesSince(recording: Recording, since: number): Changes {
  const counts = Object.fromEntries(kinds.map((kind) => [kind, countSince(recording, kind, since)])) as {
    readonly [K in Kind]: number
  }
  const gone = Object.fromEntries(
    kinds.map((kind) => [kind, missedSince(recording, kind, since)] as const).filter(([, count]) => count > 0),
  )
  const total = Object.values(gone).reduce((sum, count) => sum + count, 0)
  const errors = messages(recording, since, 'error')
  const warnings = messages(recording, since, 'warning')
  const failures = failing(recording, since)
  const endpoints = newEndpoints(recording, since)
  const navigations = navigated(recording, since)
  const all = { errors, warnings, failures, endpoints, navigations }
  const more = Object.entries(all).flatMap(([what, list]) => (list.length > maxShown ? [[what, list.length - maxShown]] : []))
  return {
    since,
    latest: currentSeq(recording),
    counts,
    errors: errors.slice(0, maxShown),
    warnings: warnings.slice(0, maxShown),
    failures: failures.slice(0, maxShown),
    endpoints: endpoints.slice(0, maxShown),
    // The newest show where the user is.
    navigations: navigations.slice(-maxShown),
    ...(more.length > 0 && { more: Object.fromEntries(more) }),
    ...(total > 0 && {
      gone,
      note: `${total} ${total === 1 ? 'record' : 'records'} since then are gone: the buffers were full, or cleared.`,
    }),
  }
}

function countSince(recording: Recording, kind: Kind, since: number): number {
  let count = 0
  for (const { seq } of recording.of(kind).backwards()) {
    if (seq <= since) break
    count += 1
  }
  return count
}

function messages(recording: Recording, since: number, level: LogEntry['level']): readonly MessageGroup[] {
  const known = new Set<string>()
  const groups = new Groups<LogEntry>(maxGroups)
  for (const entry of recording.of('logs')) {
    if (entry.level !== level) continue
    const key = messageKey(entry.text)
    if (entry.seq <= since) known.add(key)
    else groups.add(key, entry)
  }
  return groups.list().map(({ key, first, count, lastSeq }) => ({
    text: truncate(first.text, 300),
    count,
    firstSeq: first.seq,
    lastSeq,
    ...(first.source !== undefined && {
      source: `${truncate(first.source.url, 200)}:${first.source.line}:${first.source.column}`,
    }),
    isNew: !known.has(key),
  }))
}

function failing(recording: Recording, since: number): readonly FailureGroup[] {
  const known = new Set<string>()
  const groups = new Groups<NetworkRequest>(maxGroups)
  for (const request of recording.of('network')) {
    if (request.status > 0 && request.status < 400) continue
    const key = `${request.method} ${request.status} ${request.failure ?? ''} ${addressKey(request.url)}`
    if (request.seq <= since) known.add(key)
    else groups.add(key, request)
  }
  return groups.list().map(({ key, first, count, lastSeq }) => ({
    method: first.method,
    url: truncate(first.url, 300),
    status: first.status,
    ...(first.failure !== undefined && { failure: truncate(first.failure, 200) }),
    count,
    firstSeq: first.seq,
    lastSeq,
    isNew: !known.has(key),
  }))
}

function addressKey(url: string): string {
  if (!URL.canParse(url)) return messageKey(url)
  const { origin, pathname } = new URL(url)
  return `${origin}${pathText(segmentsOf(pathname))}`
}

function newEndpoints(recording: Recording, since: number): Changes['endpoints'] {
  return recording.endpoints
    .list()
    .flatMap(({ origin, path, methods }) =>
      methods
        .filter(({ firstSeq }) => firstSeq > since)
        .map(({ method, calls }) => ({ method, url: truncate(`${origin}${path}`, 300), calls })),
    )
}

function navigated(recording: Recording, since: number): Changes['navigations'] {
  return [...recording.of('actions')]
    .filter(({ action, seq }) => action === 'navigation' && seq > since)
    .map(({ seq, at, url, cause }) => ({ seq, at, url: truncate(url, 300), ...(cause !== undefined && { cause }) }))
}
