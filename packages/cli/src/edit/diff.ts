import { safeText } from '../text/safe.ts'
import type { Style } from '../text/style.ts'

export interface DiffOptions {
  readonly style: Style
  /** Masks text without changing the number of lines. */
  readonly mask?: (text: string) => string
}

/** Removed and added lines with line numbers, for an edit in one place. */
export function diffLines(before: string, after: string, { style, mask = (text) => text }: DiffOptions): readonly string[] {
  const old = linesOf(before)
  const now = linesOf(after)
  const shorter = Math.min(old.length, now.length)
  let start = 0
  while (start < shorter && old[start] === now[start]) start++
  let end = 0
  while (end < shorter - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  const width = String(Math.max(old.length, now.length)).length
  const differing = (text: string, { length }: readonly string[]): readonly string[] => {
    const lines = linesOf(mask(text))
    // Without matching lines, secrets cannot be located.
    const safe = lines.length === length ? lines : Array.from({ length }, () => '***')
    return safe.slice(start, length - end)
  }
  const [removed, added] = [differing(before, old), differing(after, now)]
  const common = commonLength(removed[0] ?? '', added[0] ?? '')
  const marked = (mark: string, lines: readonly string[]): readonly string[] =>
    lines.map((line, at) => {
      const number = String(start + at + 1).padStart(width)
      return `${mark} ${number}  ${safeText(at === 0 ? shortened(line, common) : line, { lines: true, limit: 500 })}`
    })
  return [...marked('-', removed).map(style.red), ...marked('+', added).map(style.green)]
}

function commonLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}

const maxLength = 160
const context = 40

/** Cuts a long line to a window around the change. */
function shortened(line: string, common: number): string {
  const from = line.length > maxLength ? common - context : 0
  const rest = from > 0 ? `…${line.slice(from)}` : line
  return rest.length > maxLength + context ? `${rest.slice(0, maxLength)}…` : rest
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\r?\n$/u, '').split(/\r?\n/u))
