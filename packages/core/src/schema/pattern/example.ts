import { matches } from './match.ts'
import { type Part, parsePattern } from './parse.ts'

export interface Lengths {
  readonly min: number
  readonly max: number
}

const maxLength = 300
// Each may take a millisecond for a pattern that is made to take long.
const maxTries = 20
// A word looks better than a letter.
const preferredCount = 3

/** A short text that the pattern accepts; nothing where it is not simple enough to tell. */
export function patternExample(pattern: string, { min, max }: Lengths): string | undefined {
  const part = parsePattern(pattern)
  if (part === undefined || min > maxLength) return undefined
  let tries = 0
  const isGood = (text: string): boolean => {
    const { length } = Array.from(text)
    return length >= min && length <= max && ++tries <= maxTries && matches(part, text) === true
  }
  const words = ['text', 'Text'].find(isGood)
  if (words !== undefined) return words
  const counts: readonly Count[] = [
    ({ part: inner, min: few, max: many }) =>
      inner.kind === 'set' && many > 1 ? Math.min(Math.max(few, preferredCount), many) : few,
    ({ min: few }) => few,
    // Longer and longer, until it is long enough.
    ...Array.from(
      { length: Math.max(min, 2) },
      (_, more): Count =>
        ({ min: few, max: many }) =>
          Math.min(few + more + 1, many),
    ),
  ]
  const made = counts.flatMap((count) => textOf(part, count) ?? [])
  // Where the end is open, anything may follow.
  const good = [...made, ...made.map((text) => text.padEnd(min, 'x'))].filter(isGood)
  return good.find((text) => text !== '') ?? good[0]
}

/** Whether the text is one that the pattern accepts; nothing where the pattern is not simple enough to tell. */
export function acceptsText(pattern: string, text: string): boolean | undefined {
  const part = parsePattern(pattern)
  return part === undefined ? undefined : matches(part, text)
}

type Count = (repeat: Extract<Part, { readonly kind: 'repeat' }>) => number

/** A text for the pattern, with as many repetitions as `count` says; nothing when it would be too long. */
function textOf(pattern: Part, count: Count): string | undefined {
  const used = new Map<string, number>()
  let text = ''
  const write = (part: Part): void => {
    if (text.length > maxLength) return
    if (part.kind === 'all') for (const each of part.parts) write(each)
    else if (part.kind === 'either') write(part.branches[0] ?? { kind: 'all', parts: [] })
    else if (part.kind === 'repeat') for (let left = count(part); left > 0 && text.length <= maxLength; left--) write(part.part)
    else if (part.kind === 'set') {
      const chars = Array.from(part.samples)
      const at = used.get(part.samples) ?? 0
      used.set(part.samples, at + 1)
      text += chars[at % chars.length] ?? ''
    }
  }
  write(pattern)
  return text.length > maxLength ? undefined : text
}
