import { safeText } from '../text/safe.ts'
import type { Style } from '../text/style.ts'

export interface DiffOptions {
  readonly style: Style
  /** Masks text without changing the number of lines. */
  readonly shown?: (text: string) => string
}

/** Removed and added lines with line numbers, for an edit in one place. */
export function diffLines(before: string, after: string, { style, shown = (text) => text }: DiffOptions): readonly string[] {
  const old = linesOf(before)
  const now = linesOf(after)
  const most = Math.min(old.length, now.length)
  let start = 0
  while (start < most && old[start] === now[start]) start++
  let end = 0
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  const width = String(Math.max(old.length, now.length)).length
  const differing = (text: string, { length }: readonly string[]): readonly string[] => {
    const lines = linesOf(shown(text))
    // Without matching lines, secrets cannot be located.
    const safe = lines.length === length ? lines : Array.from({ length }, () => '***')
    return safe.slice(start, length - end)
  }
  const [gone, come] = [differing(before, old), differing(after, now)]
  const kept = commonLength(gone[0] ?? '', come[0] ?? '')
  const marked = (mark: string, lines: readonly string[]): readonly string[] =>
    lines.map((line, at) => {
      const number = String(start + at + 1).padStart(width)
      return `${mark} ${number}  ${safeText(at === 0 ? shortened(line, kept) : line, { lines: true, limit: 500 })}`
    })
  return [...marked('-', gone).map(style.red), ...marked('+', come).map(style.green)]
}

function commonLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}

const longest = 160
const context = 40

/** Cuts a long line to a window around the change. */
function shortened(line: string, kept: number): string {
  const from = line.length > longest ? kept - context : 0
  const rest = from > 0 ? `…${line.slice(from)}` : line
  return rest.length > longest + context ? `${rest.slice(0, longest)}…` : rest
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\r?\n$/u, '').split(/\r?\n/u))
