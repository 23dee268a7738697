import { pathText, segmentsOf } from '../api/path.ts'
import { missedSince, currentSeq } from '../recording/places.ts'
import type { Recording } from '../recording/recording.ts'
import { type Kind, kinds, type LogEntry, type NetworkRequest } from '../records/records.ts'
import { truncate } from '../reply/reply.ts'
import { Groups, messageKey } from './groups.ts'

/** What happened since a place. */
export interface Changes {
  readonly since: number
  /** The place of now: what comes later is `since` it. */
  readonly latest: number
  /** How many records of each kind came, of those that are kept. */
  readonly counts: { readonly [K in Kind]: number }
  readonly errors: readonly MessageGroup[]
  readonly warnings: readonly MessageGroup[]
  readonly failures: readonly FailureGroup[]
  readonly endpoints: readonly { readonly method: string; readonly url: string; readonly calls: number }[]
  readonly navigations: readonly { readonly seq: number; readonly at: number; readonly url: string; readonly cause?: string }[]
  /** Groups and entries that are not shown here. */
  readonly more?: { readonly [what: string]: number }
  /** What came and is gone already, by kind. */
  readonly gone?: { readonly [K in Kind]?: number }
  /** The same in words. */
  readonly note?: string
}

/** Messages that are the same but for numbers, ids and addresses. */
interface MessageGroup {
  readonly text: string
  readonly count: number
  readonly firstSeq: number
  readonly lastSeq: number
  readonly source?: string
  /** Nothing like it is kept from before. */
  readonly isNew: boolean
}

/** Requests to one address that failed in the same way. */
interface FailureGroup {
  readonly method: string
  readonly url: string
  /** 0 when there was no answer. */
  readonly status: number
  readonly failure?: string
  readonly count: number
  readonly firstSeq: number
  readonly lastSeq: number
  /** Nothing like it is kept from before. */
  readonly isNew: boolean
}

const maxGroups = 500
const maxShown = 20

/** What happened since the place `since`: `latest` of an earlier answer, or 0 for everything. */
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
    // Of these the newest say where the person is.
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
