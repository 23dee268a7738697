import { ToolError } from '@unfold-mcp/server'
import { fromBeginning, type Since } from './since.ts'

/** Where a page ended, counted in all records of the kind there ever were, so that new ones and lost ones change nothing. */
export interface Cursor {
  /** The next page begins before this one. */
  readonly before: number
  /** The oldest that was wanted and still there when the page was made. */
  readonly first: number
  readonly since: Since
}

const form = /^([0-9a-z]{1,11})-([0-9a-z]{1,11})-(b|[pt]-?[0-9a-z]{1,11})-([0-9a-f]{12})$/

/** The cursor as text, good only for the same question. */
export function writeCursor({ before, first, since }: Cursor, question: string): string {
  const from = since.from === 'beginning' ? 'b' : `${since.from === 'place' ? 'p' : 't'}${Math.floor(since.value).toString(36)}`
  return `${before.toString(36)}-${first.toString(36)}-${from}-${question}`
}

/** Reads a cursor; throws for one that was made for another question or by something else. */
export function readCursor(text: string, question: string): Cursor {
  const [, before = '', first = '', from = '', asked] = form.exec(text) ?? []
  if (asked === undefined) {
    throw new ToolError(
      'This cursor was not made here. Use `next_cursor` of the answer before as it is, or leave it out to start again.',
    )
  }
  if (asked !== question) {
    throw new ToolError(
      'This cursor belongs to another question or an earlier run. Repeat the same mode and filters with it, or leave it out to start again.',
    )
  }
  return { before: Number.parseInt(before, 36), first: Number.parseInt(first, 36), since: readSince(from) }
}

function readSince(text: string): Since {
  if (text === 'b') return fromBeginning
  return { from: text.startsWith('p') ? 'place' : 'time', value: Number.parseInt(text.slice(1), 36) }
}
