import { blanked, javascriptRanges, pythonRanges } from './blanking.ts'

export const languages = ['javascript', 'typescript', 'python'] as const
export type Language = (typeof languages)[number]

/** A source text, and copies with comments and strings replaced by spaces. Positions are the same in all three. */
export interface Source {
  readonly language: Language
  readonly text: string
  /** Without comments. */
  readonly code: string
  /** Without comments and string contents. */
  readonly bare: string
  readonly lines: readonly string[]
  /** Returns the line of a position, starting at 1. */
  readonly lineAt: (position: number) => number
  /** Returns the closing bracket for the one at this position. */
  readonly closing: (position: number) => number | undefined
}

export function readSource(language: Language, text: string): Source {
  const { comments, strings } = language === 'python' ? pythonRanges(text) : javascriptRanges(text)
  const bare = blanked(text, [...comments, ...strings])
  const starts = [0, ...[...text.matchAll(/\n/gu)].map((match) => match.index + 1)]
  const brackets = bracketsOf(bare)
  return {
    language,
    text,
    code: blanked(text, comments),
    bare,
    lines: text.split('\n'),
    lineAt: (position) => countUpTo(starts, position),
    closing: (position) => brackets.get(position),
  }
}

const closers: { readonly [open: string]: string } = { '(': ')', '[': ']', '{': '}' }

/** Returns the position of each closing bracket. Unclosed brackets are omitted. */
function bracketsOf(bare: string): ReadonlyMap<number, number> {
  const found = new Map<number, number>()
  const open: { at: number; closer: string }[] = []
  for (const { 0: bracket, index } of bare.matchAll(/[()[\]{}]/gu)) {
    const closer = closers[bracket]
    if (closer !== undefined) open.push({ at: index, closer })
    else if (open.at(-1)?.closer === bracket) found.set(open.pop()?.at ?? 0, index)
  }
  return found
}

/** Counts the sorted numbers up to `limit`. */
function countUpTo(numbers: readonly number[], limit: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low
}
