import { createHash, randomUUID } from 'node:crypto'
import { canonicalJson } from '@unfold-mcp/core'
import { ToolError } from '@unfold-mcp/server'
import type { Recording } from '../recording/recording.ts'
import { currentSeq, missedSince } from '../recording/sequence.ts'
import type { Kind } from '../records/records.ts'
import { fitJson, quoted, replyLimit, visibleJson } from '../reply/reply.ts'
import { type Cursor, readCursor, writeCursor } from './cursor.ts'
import { type Matches, testOf } from './matches.ts'
import { isSince, type Since, sinceOf } from './since.ts'
import { viewOf } from './views.ts'

export interface PageQuery<K extends Kind> {
  /** Maximum number of records, 1 to 200. Default: 20. */
  readonly limit?: number
  /** Cursor of the previous page, which also contains `since`. */
  readonly cursor?: string
  /** Only records after a sequence number (`latest` of an earlier page), since a time, or within a duration such as `5m`. */
  readonly since?: number | string
  /** Only matching records. */
  readonly match?: Matches[K]
  /** Current time in milliseconds since 1970. */
  readonly now?: number
  /** Maximum length of the records, in characters. */
  readonly room?: number
}

/** Records of a kind, newest first. */
export interface ObservedPage {
  readonly records: readonly object[]
  /** Leads to older records; absent if there are none. */
  readonly next_cursor?: string
  /** Current sequence number, to pass as `since` later. */
  readonly latest: number
  /** Number of records of the kind, matching or not, dropped unseen since the previous page. */
  readonly missed?: number
}

const defaultLimit = 20
const maxRecords = 200
// Reserved for the text around the records.
const roomForWords = 2_000
const minTextLength = 400

/**
 * Returns the newest matching records that fit into a reply, at least one. Pages joined by cursors contain each record once; records
 * dropped in between are counted.
 */
export function page<K extends Kind>(recording: Recording, kind: K, query: PageQuery<K> = {}): ObservedPage {
  const { match, now = Date.now(), room = replyLimit - roomForWords } = query
  const limit = limitOf(query.limit)
  const isMatching = testOf(kind, match)
  const question = questionOf(recording, kind, match)
  const asked = sinceOf(query.since, { now, latest: recording.seq })
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor, question)
  const since = cursor?.since ?? asked
  const ring = recording.of(kind)
  const kept = [...ring]
  const gone = ring.pushed - ring.length

  const records: object[] = []
  let used = 0
  let index = Math.min(kept.length, (cursor?.before ?? ring.pushed) - gone)
  let next: Cursor | undefined
  while (index > 0) {
    const record = kept[index - 1]
    if (record === undefined) break
    if (isSince(since, record) && isMatching(record)) {
      // With fewer records, more of each is shown.
      const view = viewOf(kind, record, Math.max(minTextLength, Math.floor(room / limit / 2)), match)
      const { length } = visibleJson(view)
      if (records.length === limit || (records.length > 0 && used + length + 1 > room)) {
        next = { before: gone + index, first: gone + firstSince(kept, since), since }
        break
      }
      records.push(length > room ? fitted(view, room) : view)
      used += length + 1
    }
    index--
  }
  const missed =
    cursor === undefined ? missedAtFirst(recording, kind, since) : Math.max(0, Math.min(gone, cursor.before) - cursor.first)
  return {
    records,
    ...(next !== undefined && { next_cursor: writeCursor(next, question) }),
    latest: currentSeq(recording),
    ...(missed > 0 && { missed }),
  }
}

function limitOf(limit: number | undefined): number {
  if (limit === undefined) return defaultLimit
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxRecords) return limit
  throw new ToolError(`Invalid limit: ${quoted(String(limit), 20)}. Use an integer from 1 to ${maxRecords}.`)
}

function firstSince(kept: readonly { readonly seq: number; readonly at: number }[], since: Since): number {
  const index = kept.findIndex((record) => isSince(since, record))
  return index === -1 ? kept.length : index
}

/** Number of dropped records for a first page; an upper bound if only their number is known. */
function missedAtFirst(recording: Recording, kind: Kind, since: Since): number {
  if (since.from === 'beginning') return 0
  if (since.from === 'place') return missedSince(recording, kind, since.value)
  const ring = recording.of(kind)
  const [oldest] = ring
  // If an older record is still buffered, every dropped one is older too.
  return oldest !== undefined && isSince(since, oldest) ? ring.evicted : 0
}

function fitted(view: object, room: number): object {
  const value: unknown = JSON.parse(fitJson(view, room).json)
  return typeof value === 'object' && value !== null ? value : { shortened: value }
}

// A cursor of another run must not be accepted.
const runs = new WeakMap<Recording, string>()

// These affect only the presentation and may change between pages.
const onlyShown = new Set(['bodies', 'headers'])

function questionOf(recording: Recording, kind: Kind, match: object = {}): string {
  const run = runs.get(recording) ?? randomUUID()
  runs.set(recording, run)
  const asked = Object.fromEntries(Object.entries(match).filter(([name]) => !onlyShown.has(name)))
  return createHash('sha256')
    .update(canonicalJson([run, kind, asked]))
    .digest('hex')
    .slice(0, 12)
}
