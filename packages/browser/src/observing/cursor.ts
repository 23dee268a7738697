import { ToolError } from '@unfold-mcp/server'
import { fromBeginning, type Since } from './since.ts'

/** Position of a page in all records of a kind ever made, so that new and dropped records do not shift it. */
export interface Cursor {
  /** The next page begins before this record. */
  readonly before: number
  /** Oldest matching record when the page was created. */
  readonly first: number
  readonly since: Since
}

const form = /^([0-9a-z]{1,11})-([0-9a-z]{1,11})-(b|[pt]-?[0-9a-z]{1,11})-([0-9a-f]{12})$/

/** Encodes a cursor, valid only for the same query. */
export function writeCursor({ before, first, since }: Cursor, question: string): string {
  const from = since.from === 'beginning' ? 'b' : `${since.from === 'place' ? 'p' : 't'}${Math.floor(since.value).toString(36)}`
  return `${before.toString(36)}-${first.toString(36)}-${from}-${question}`
}

/** Decodes a cursor; throws if it belongs to another query. */
export function readCursor(text: string, question: string): Cursor {
  const [, before = '', first = '', from = '', asked] = form.exec(text) ?? []
  if (asked === undefined) {
    throw new ToolError('Invalid cursor. Use `next_cursor` of the previous reply unchanged, or omit it to start again.')
  }
  if (asked !== question) {
    throw new ToolError(
      'This cursor belongs to another query or an earlier run. Use it with the same mode and filters, or omit it to start again.',
    )
  }
  return { before: Number.parseInt(before, 36), first: Number.parseInt(first, 36), since: readSince(from) }
}

function readSince(text: string): Since {
  if (text === 'b') return fromBeginning
  return { from: text.startsWith('p') ? 'place' : 'time', value: Number.parseInt(text.slice(1), 36) }
}
