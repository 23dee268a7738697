import { createHash, randomUUID } from 'node:crypto'
import { canonicalJson } from '@unfold-mcp/core'
import { ToolError } from '@unfold-mcp/server'
import { missedSince, currentSeq } from '../recording/places.ts'
import type { Recording } from '../recording/recording.ts'
import type { Kind } from '../records/records.ts'
import { fitJson, quoted, replyLimit, visibleJson } from '../reply/reply.ts'
import { type Cursor, readCursor, writeCursor } from './cursor.ts'
import { type Matches, testOf } from './matches.ts'
import { isSince, type Since, sinceOf } from './since.ts'
import { viewOf } from './views.ts'

export interface PageQuery<K extends Kind> {
  /** How many records at most: 1 to 200, 20 unless told. */
  readonly limit?: number
  /** Where the page before ended. It also knows since when records were wanted. */
  readonly cursor?: string
  /** Only what came after a place (`latest` of an earlier page), since a time, or within a duration such as `5m`. */
  readonly since?: number | string
  /** Only records such as these. */
  readonly match?: Matches[K]
  /** The time of now, in milliseconds since 1970. */
  readonly now?: number
  /** How many characters the records may take. */
  readonly room?: number
}

/** Records of a kind, newest first. */
export interface ObservedPage {
  readonly records: readonly object[]
  /** Leads to the older ones; absent when there are none. */
  readonly next_cursor?: string
  /** The place of now: what comes later is `since` it. */
  readonly latest: number
  /** How many of the kind, matching or not, had to go since the page or place before, unseen. Absent for none. */
  readonly missed?: number
}

const defaultLimit = 20
const maxRecords = 200
// For our own words around the records.
const roomForWords = 2_000
const minTextLength = 400

/**
 * The newest records of a kind that match, as many as a reply can hold and always one. Pages joined by their cursors hold each
 * record once, whatever is recorded meanwhile; what had to go in between is counted.
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
      // Who asks for few sees more of each.
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
  throw new ToolError(`The limit is ${quoted(String(limit), 20)}. Give a whole number from 1 to ${maxRecords}.`)
}

function firstSince(kept: readonly { readonly seq: number; readonly at: number }[], since: Since): number {
  const index = kept.findIndex((record) => isSince(since, record))
  return index === -1 ? kept.length : index
}

/** How many are gone of those that a first page was asked for; at most so many, where only their number is known. */
function missedAtFirst(recording: Recording, kind: Kind, since: Since): number {
  if (since.from === 'beginning') return 0
  if (since.from === 'place') return missedSince(recording, kind, since.value)
  const ring = recording.of(kind)
  const [oldest] = ring
  // When something older than the time is still here, all that had to go is older.
  return oldest !== undefined && isSince(since, oldest) ? ring.evicted : 0
}

function fitted(view: object, room: number): object {
  const value: unknown = JSON.parse(fitJson(view, room).json)
  return typeof value === 'object' && value !== null ? value : { shortened: value }
}

// A cursor of another run, whose records are other ones, must not be taken for one of this.
const runs = new WeakMap<Recording, string>()

// How much of each record is shown may change from page to page.
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
