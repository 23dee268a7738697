import { normalForm } from '@unfold-mcp/core'
import type { TextPart } from './text-parts.ts'

/** All texts of a definition joined, so that each rule scans them once. */
export interface JoinedText {
  /** The parts, each surrounded by the separator, with collapsed white space. */
  readonly text: string
  /** `text` in lower case with Latin look-alikes replaced; every index is the same as in `text`. */
  readonly normalized: string
  /** Path of the part at an index. */
  pathAt(index: number): string
  /** Context of an index within its part, at most `reach` characters to either side. */
  around(index: number, reach: number): { readonly text: string; readonly normalized: string }
  /** Excerpt that starts shortly before an index. */
  excerpt(index: number): string
}

/** Does not occur in any part. */
const separator = '\0'

const plain = /^[ -~]*$/
const plainLines = /^[\n -~]*$/
const plainParts = /^[\0\n -~]*$/
const spaces = /\s+/g
const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Variation_Selector}]/gu

// NFKC expands each of these to a sentence, which would make a text of them twenty times as long.
const sentenceLigatures = /[\u{FDFA}\u{FDFB}]/gu

// Letters of other scripts that look like Latin ones.
const lookAlikes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    а: 'a',
    е: 'e',
    о: 'o',
    р: 'p',
    с: 'c',
    х: 'x',
    у: 'y',
    і: 'i',
    ј: 'j',
    ѕ: 's',
    һ: 'h',
    к: 'k',
    м: 'm',
    т: 't',
    в: 'b',
    н: 'h',
    ԁ: 'd',
    ο: 'o',
    α: 'a',
    ν: 'v',
    ρ: 'p',
    τ: 't',
    ι: 'i',
    κ: 'k',
    ε: 'e',
    ı: 'i',
  }),
)
const lookAlike = new RegExp(`[${[...lookAlikes.keys()].join('')}]`, 'gu')

export function joinText(parts: readonly TextPart[]): JoinedText {
  const starts: number[] = []
  const cleanParts: string[] = []
  let length = 1
  for (const part of parts) {
    const clean = cleaned(part.text)
    starts.push(length)
    cleanParts.push(clean)
    length += clean.length + 1
  }
  const text = `${separator}${cleanParts.join(separator)}${separator}`
  const lower = text.toLowerCase()
  const normalized = plainParts.test(text) ? lower : lower.replace(lookAlike, (letter) => lookAlikes.get(letter) ?? letter)
  // Sliced before splitting: a part may be long, and this runs often.
  const before = (index: number, reach: number): string =>
    text
      .slice(Math.max(0, index - reach), index)
      .split(separator)
      .at(-1) ?? ''
  const after = (index: number, reach: number): string =>
    text
      .slice(index, index + reach)
      .split(separator, 1)
      .join('')
  return {
    text,
    normalized,
    pathAt: (index) => parts[partAt(starts, index)]?.path() ?? '',
    around(index, reach) {
      const [from, to] = [index - before(index, reach).length, index + after(index, reach).length]
      return { text: text.slice(from, to), normalized: normalized.slice(from, to) }
    },
    excerpt: (index) => `${dropPartialWord(before(index, excerptBefore))}${after(index, excerptAfter)}`,
  }
}

const excerptBefore = 24
const excerptAfter = 200

const dropPartialWord = (text: string): string => (text.length < excerptBefore ? text : text.replace(/^\S*\s?/u, ''))

function cleaned(text: string): string {
  if (plain.test(text) && !text.includes('  ')) return text
  const spaced = text.replace(spaces, (run) => (run.includes('\n') ? '\n' : ' '))
  if (plainLines.test(spaced)) return spaced
  const normal = normalForm(spaced.replace(sentenceLigatures, ' '), 'NFKC').replace(unseen, '')
  // A few capitals are longer in lower case, which would shift the indexes.
  const lower = normal.toLowerCase()
  return lower.length === normal.length ? normal : lower
}

/** Binary search for the part that contains an index. */
function partAt(starts: readonly number[], index: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= index) low = middle
    else high = middle - 1
  }
  return low
}
