import { widthOf } from './width.ts'
import { fitted, padded, wrapped } from './wrap.ts'

export interface TableOptions {
  /** How many columns the terminal has. */
  readonly width: number
  readonly indent?: number
  readonly gap?: number
  /** How wide a cell before the last one may be; a wider one stands on a line of its own before the last. */
  readonly widest?: number
  /** Wrap the last column, or cut it so that every row is one line. */
  readonly last?: 'wrap' | 'cut'
}

/** Rows of safe text as lines, in columns that fit the terminal. */
export function tableLines(rows: readonly (readonly string[])[], options: TableOptions): readonly string[] {
  const { width, indent = 0, gap = 2, last = 'wrap' } = options
  const widest = options.widest ?? Math.max(8, Math.floor(width / 2) - indent)
  const count = rows.reduce((most, row) => Math.max(most, row.length), 0)
  const sizes = Array.from({ length: Math.max(0, count - 1) }, (_, column) =>
    rows.reduce((most, row) => {
      const size = row.length - 1 > column ? widthOf(row[column] ?? '') : 0
      return size > widest ? most : Math.max(most, size)
    }, 0),
  )
  const before = ' '.repeat(indent)
  const start = sizes.reduce((sum, size) => sum + size + gap, 0)
  const room = Math.max(16, width - indent - start)
  return rows.flatMap((row) => {
    const cells = sizes.map((size, column) => padded(row[column] ?? '', size))
    const end = row[count - 1] ?? ''
    const lines = last === 'cut' ? [fitted(end, room)] : wrapped(end, room)
    const head = cells.join(' '.repeat(gap))
    const rest = lines.map((line) => ' '.repeat(start) + line)
    if (widthOf(head) + gap > start && sizes.length > 0)
      return [head, ...(end === '' ? [] : rest)].map((line) => shown(before, line))
    const [first = '', ...others] = lines
    const top = sizes.length === 0 ? first : head + ' '.repeat(gap) + first
    return [top, ...others.map((line) => ' '.repeat(start) + line)].map((line) => shown(before, line))
  })
}

const shown = (before: string, line: string): string => (before + line).trimEnd()
