/** Renders a text table: the first columns are left-aligned, the others right-aligned. */
export function tableOf(headings: readonly string[], rows: readonly (readonly string[])[], leading = 1): string {
  const widths = headings.map((heading, column) => Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column < leading ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
  return [line(headings), line(widths.map((width) => '─'.repeat(width))), ...rows.map(line)].join('\n')
}

/** `12.3 µs`, `1.23 ms`. */
export function timeText(microseconds: number): string {
  return microseconds < 1_000 ? `${digits(microseconds)} µs` : `${digits(microseconds / 1_000)} ms`
}

/** `512 B`, `7.5 KB`, `5.31 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${Math.round(bytes)} B`
  return bytes < 1_000_000 ? `${digits(bytes / 1_000)} KB` : `${digits(bytes / 1_000_000)} MB`
}

/** `1.05 ×`; empty without a reference. */
export function ratioText(ratio: number | undefined): string {
  if (ratio === undefined) return ''
  return `${ratio.toFixed(ratio < 0.1 ? 3 : ratio < 10 ? 2 : 0)} ×`
}

export const countText = (count: number): string => count.toLocaleString('en')

const digits = (value: number): string => (value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0))
