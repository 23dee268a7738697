import type { Recording } from '../recording/recording.ts'
import type { Kind, LogEntry, NetworkRequest, PerformanceSnapshot, Records, SocketEvent, UserAction } from '../records/records.ts'
import { truncate } from '../reply/reply.ts'

export interface TimelineOptions {
  /** Maximum number of entries. Default: 50; maximum: 200. */
  readonly limit?: number
  /** Only records before this sequence number: `before` of the newer page. */
  readonly before?: number
  readonly tab?: string
  readonly kinds?: readonly TimelineKind[]
}

export type TimelineKind = Exclude<Kind, 'audits'>

/** Event with its delay after the last user action. */
interface TimelineEntry {
  readonly seq: number
  readonly kind: TimelineKind
  /** Start time in milliseconds since 1970. */
  readonly at: number
  readonly tab: string
  /** Milliseconds since the preceding action in the same tab. */
  readonly afterMs?: number
  /** Sequence number of that action. */
  readonly afterSeq?: number
  readonly what: string
  /** Duration in milliseconds. */
  readonly tookMs?: number
}

/** Page of the timeline. */
export interface Timeline {
  /** In order of their start. */
  readonly entries: readonly TimelineEntry[]
  /** Leads to the older page; absent if there is none. */
  readonly before?: number
  /** Older records were dropped. */
  readonly isOlderGone?: true
}

export const timelineKinds = ['actions', 'network', 'logs', 'sockets', 'snapshots'] as const satisfies readonly TimelineKind[]
const defaultEntries = 50
const maxEntries = 200

/** Builds a timeline around user actions. Pages joined by `before` contain each record once. */
export function buildTimeline(recording: Recording, options: TimelineOptions = {}): Timeline {
  const { limit = defaultEntries, before, tab, kinds = timelineKinds } = options
  const max = Math.min(Math.max(1, Math.trunc(limit)), maxEntries)
  const chosen: TimelineEntry[] = []
  const streams = kinds.map((kind) => entriesOf(recording, kind, before))
  const heads = streams.map((stream) => stream.next().value)
  let hasMore = false
  for (;;) {
    let newest = -1
    for (const [i, head] of heads.entries()) if (head !== undefined && head.seq > (heads[newest]?.seq ?? -1)) newest = i
    const head = heads[newest]
    if (head === undefined) break
    heads[newest] = streams[newest]?.next().value
    if (tab !== undefined && head.tab !== tab) continue
    hasMore = chosen.length === max
    if (hasMore) break
    chosen.push(head)
  }
  const first = chosen.at(-1)
  const oldestGone = Math.max(...kinds.map((kind) => recording.of(kind).lastEvicted))
  return {
    entries: withActions(recording, chosen),
    ...(hasMore && first !== undefined && { before: first.seq }),
    ...(!hasMore && oldestGone > 0 && { isOlderGone: true }),
  }
}

function* entriesOf(recording: Recording, kind: TimelineKind, before: number | undefined): Generator<TimelineEntry, undefined> {
  for (const record of recording.of(kind).backwards(before)) yield entryOf(kind, record)
  return undefined
}

function entryOf<K extends TimelineKind>(kind: K, record: Records[K]): TimelineEntry {
  const { seq, at, tab } = record
  const send: (record: Records[K]) => Partial<TimelineEntry> & { readonly what: string } = describers[kind]
  return { seq, kind, at, tab, ...send(record) }
}

const describers: { readonly [K in TimelineKind]: (record: Records[K]) => Partial<TimelineEntry> & { readonly what: string } } = {
  actions: (action) => ({ what: actionText(action) }),
  network: ({ method, url, status, failure, startedAt, at }: NetworkRequest) => ({
    at: startedAt,
    tookMs: Math.max(0, Math.round(at - startedAt)),
    what: `${method} ${truncate(url, 200)} → ${status === 0 ? truncate(failure ?? 'no answer', 80) : status}`,
  }),
  logs: ({ level, text }: LogEntry) => ({ what: `${level}: ${truncate(text, 200)}` }),
  sockets: ({ event, url, text, bytes }: SocketEvent) => ({
    what: `socket ${event}: ${text === undefined ? truncate(url, 120) : truncate(text, 120)}${bytes > 0 ? ` (${bytes} bytes)` : ''}`,
  }),
  snapshots: ({ url, lcp, cls, inp }: PerformanceSnapshot) => ({
    what: `measured ${truncate(url, 120)}:${labelled('LCP', lcp)}${labelled('INP', inp)}${labelled('CLS', cls)}`,
  }),
}

function labelled(name: string, value: number | undefined): string {
  return value === undefined ? '' : ` ${name} ${Math.round(value * 1_000) / 1_000}`
}

function actionText({ action, url, selectors, value, secret, checked, key, scroll, cause }: UserAction): string {
  if (action === 'navigation') return `navigation${cause === undefined ? '' : ` (${cause})`} to ${truncate(url, 200)}`
  if (action === 'scroll') return `scroll to ${scroll?.x ?? 0}, ${scroll?.y ?? 0}`
  const name = selectors?.role?.name || selectors?.label || selectors?.text || selectors?.testId || selectors?.css || ''
  const where = `${selectors?.role?.role ?? 'element'} ${JSON.stringify(truncate(name, 80))}`
  const given = secret === true ? ' (secret)' : value === undefined ? '' : `: ${JSON.stringify(truncate(value, 80))}`
  const state = checked === undefined ? '' : checked ? ' on' : ' off'
  return `${action}${key === undefined ? '' : ` ${key}`} ${where}${given}${state}`
}

/** Sorts by start time and links each entry to the preceding action in its tab. */
function withActions(recording: Recording, chosen: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const actions = [...recording.of('actions')].sort(byTime)
  return chosen.toSorted(byTime).map((entry) => {
    const action = actions.findLast((each) => each.tab === entry.tab && isBefore(each, entry))
    if (action === undefined) return entry
    return { ...entry, afterMs: Math.round(entry.at - action.at), afterSeq: action.seq }
  })
}

function isBefore(action: UserAction, entry: TimelineEntry): boolean {
  // An effect can carry the time of its click; then the order of recording decides.
  return action.at < entry.at || (action.at === entry.at && action.seq < entry.seq)
}

function byTime(a: { readonly at: number; readonly seq: number }, b: { readonly at: number; readonly seq: number }): number {
  return a.at - b.at || a.seq - b.seq
}
