import { safeText } from '../text/safe.ts'
import type { Style } from '../text/style.ts'

export interface DifferenceOptions {
  readonly style: Style
  /** Values that are not shown. */
  readonly secrets?: readonly string[]
}

/** What becomes of a text: the lines that go, and those that come, each with its number. An edit is in one place. */
export function differenceLines(before: string, after: string, { style, secrets = [] }: DifferenceOptions): readonly string[] {
  const old = linesOf(before)
  const now = linesOf(after)
  const most = Math.min(old.length, now.length)
  let start = 0
  while (start < most && old[start] === now[start]) start++
  let end = 0
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  const width = String(Math.max(old.length, now.length)).length
  const shown = (mark: string, all: readonly string[]): readonly string[] =>
    all.slice(start, all.length - end).map((line, at) => {
      const number = String(start + at + 1).padStart(width)
      return `${mark} ${number}  ${safeText(masked(line, secrets), { lines: true, limit: 500 })}`
    })
  return [...shown('-', old).map(style.red), ...shown('+', now).map(style.green)]
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\r?\n$/u, '').split(/\r?\n/u))

const masked = (line: string, secrets: readonly string[]): string =>
  secrets.reduce((text, secret) => (secret === '' ? text : text.replaceAll(JSON.stringify(secret).slice(1, -1), '***')), line)
