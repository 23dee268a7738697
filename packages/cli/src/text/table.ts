import { widthOf } from './width.ts'
import { fitted, padded, wrapped } from './wrap.ts'

export interface TableOptions {
  /** Width of the terminal. */
  readonly width: number
  readonly indent?: number
  readonly gap?: number
  /** Maximum width of all but the last cell; a wider cell gets its own line. */
  readonly widest?: number
  /** Wraps the last column, or cuts it so that every row is one line. */
  readonly last?: 'wrap' | 'cut'
}

/** Lays out rows of safe text in aligned columns. */
export function tableLines(rows: readonly (readonly string[])[], options: TableOptions): readonly string[] {
  const { width, indent = 0, gap = 2, last = 'wrap' } = options
  const widest = options.widest ?? Math.max(8, Math.floor(width / 2) - indent)
  const count = rows.reduce((max, row) => Math.max(max, row.length), 0)
  const sizes = Array.from({ length: Math.max(0, count - 1) }, (_, column) =>
    rows.reduce((max, row) => {
      const size = row.length - 1 > column ? widthOf(row[column] ?? '') : 0
      return size > widest ? max : Math.max(max, size)
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
      return [head, ...(end === '' ? [] : rest)].map((line) => (before + line).trimEnd())
    const [first = '', ...others] = lines
    const top = sizes.length === 0 ? first : head + ' '.repeat(gap) + first
    return [top, ...others.map((line) => ' '.repeat(start) + line)].map((line) => (before + line).trimEnd())
  })
}
