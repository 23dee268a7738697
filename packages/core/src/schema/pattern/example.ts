import { matches } from './match.ts'
import { type Part, parsePattern } from './parse.ts'

export interface Lengths {
  readonly min: number
  readonly max: number
}

const maxLength = 300
// Each may take a millisecond for a malicious pattern.
const maxTries = 20
// A short word is more readable than a single letter.
const preferredCount = 3

/** Generates a short text that matches; `undefined` for an unsupported pattern. */
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
    // Increasing repetitions, until the text is long enough.
    ...Array.from(
      { length: Math.max(min, 2) },
      (_, more): Count =>
        ({ min: few, max: many }) =>
          Math.min(few + more + 1, many),
    ),
  ]
  const made = counts.flatMap((count) => textOf(part, count) ?? [])
  // An unanchored pattern allows any suffix.
  const good = [...made, ...made.map((text) => text.padEnd(min, 'x'))].filter(isGood)
  return good.find((text) => text !== '') ?? good[0]
}

/** Tests a text against a pattern; `undefined` for an unsupported pattern. */
export function acceptsText(pattern: string, text: string): boolean | undefined {
  const part = parsePattern(pattern)
  return part === undefined ? undefined : matches(part, text)
}

type Count = (repeat: Extract<Part, { readonly kind: 'repeat' }>) => number

/** Generates a text with `count` repetitions; `undefined` if it would be too long. */
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
