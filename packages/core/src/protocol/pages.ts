import { Failure } from '../base/failure.ts'

export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor?: string
}

const form = /^([0-9a-z]{1,8})\.([0-9a-f]{32})$/

/**
 * The page of `items` that `cursor` points to. A cursor names the list it was made for, so it is refused after any change
 * rather than skipping or repeating an item.
 */
export function pageOf<T>(items: readonly T[], size: number | undefined, list: string, cursor?: string): Page<T> {
  const start = cursor === undefined ? 0 : offsetOf(cursor, list, items.length)
  if (size === undefined) return start === 0 ? { items } : { items: items.slice(start) }
  const end = start + size
  const page = items.slice(start, end)
  return end < items.length ? { items: page, nextCursor: `${end.toString(36)}.${list}` } : { items: page }
}

function offsetOf(cursor: string, list: string, length: number): number {
  const [, offset, madeFor] = form.exec(cursor) ?? []
  if (offset === undefined) {
    throw new Failure('invalid_cursor', 'This cursor was not made by this server. List again without a cursor.', {
      cursor: cursor.slice(0, 64),
    })
  }
  const start = Number.parseInt(offset, 36)
  if (madeFor !== list || start > length) {
    throw new Failure('stale_cursor', 'The tools changed since this cursor was made. List again without a cursor.', { cursor })
  }
  return start
}
