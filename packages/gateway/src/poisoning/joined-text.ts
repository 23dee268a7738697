import { normalForm, plainLetter } from '@unfold-mcp/core'
import { disguisedTexts } from './disguises.ts'
import { isOrdinary } from './ordinary-text.ts'
import type { TextPart } from './text-parts.ts'

/** All texts of a definition joined, so that each rule scans them once. */
export interface JoinedText {
  /** The parts, each surrounded by the separator, with collapsed white space. */
  readonly text: string
  /** `text` in lower case; every index is the same as in `text`. */
  readonly lower: string
  /** `lower` with accents and Latin look-alikes replaced; every index is the same as in `text`. */
  readonly normalized: string
  /** Path of the part at an index. */
  pathAt(index: number): string
  /** Context of an index within its part, at most `reach` characters to either side. */
  around(index: number, reach: number): Pick<JoinedText, 'text' | 'lower' | 'normalized'>
  /** Excerpt that starts shortly before an index. */
  excerpt(index: number): string
}

/** Does not occur in any part. */
const separator = '\0'

const plainLines = /^[\n -~]*$/
const plainParts = /^[\0\n -~]*$/
// Runs of white space, first within lines, then around line breaks. Separate and not nested, so matching is linear.
const spread = /[\n ]{2}/
const spaces = /[^\S\n]{2,}|[^\S\n ]/g
const lineBreaks = / \n[\n ]*|\n[\n ]+/g
// Also combining marks that NFKC left over: accents and strokes without a composed letter.
const unseen = /(?!\n)(?:[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Variation_Selector}]|[\u{300}-\u{36F}])/gu

// NFKC expands each of these to a sentence, which would make a text of them twenty times as long.
const sentenceLigatures = /[\u{FDFA}\u{FDFB}]/gu

// Latin letters that Unicode does not decompose.
const strokes = new Map<string, string>(
  [...'łløođdħhŧt'.matchAll(/(.)(.)/gu)].map(([, letter = '', base = '']) => [letter, base]),
)

/** A Latin letter without accents, or the one that a letter of another script looks like; other characters as they are. */
function foldLetter(letter: string): string {
  const base = letter.normalize('NFD').charAt(0)
  return strokes.get(letter) ?? (/[a-z]/.test(base) ? base : plainLetter(letter))
}

/** By code unit; 0 until it occurs. */
const folded = new Uint16Array(0x1_0000)

function foldLetters(text: string): string {
  const units = new Uint16Array(text.length)
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 0x80 && folded[unit] === 0) folded[unit] = foldLetter(String.fromCharCode(unit)).charCodeAt(0)
    units[at] = unit < 0x80 ? unit : (folded[unit] ?? 0)
  }
  return Buffer.from(units.buffer).toString('utf16le')
}

export function joinText(parts: readonly TextPart[]): JoinedText {
  const starts: number[] = []
  const cleanParts: string[] = []
  let length = 1
  const paths: (() => string)[] = []
  const add = (clean: string, path: () => string): void => {
    starts.push(length)
    cleanParts.push(clean)
    paths.push(path)
    length += clean.length + 1
  }
  for (const { text, path } of parts) {
    add(cleaned(text), path)
    for (const plainText of disguisedTexts(text)) add(cleaned(plainText), path)
  }
  const text = `${separator}${cleanParts.join(separator)}${separator}`
  const lower = text.toLowerCase()
  const normalized = plainParts.test(text) ? lower : foldLetters(lower)
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
    lower,
    normalized,
    pathAt: (index) => paths[partAt(starts, index)]?.() ?? '',
    around(index, reach) {
      const [from, to] = [index - before(index, reach).length, index + after(index, reach).length]
      return { text: text.slice(from, to), lower: lower.slice(from, to), normalized: normalized.slice(from, to) }
    },
    excerpt: (index) => `${dropPartialWord(before(index, excerptBefore))}${after(index, excerptAfter)}`,
  }
}

const excerptBefore = 24
const excerptAfter = 200

const dropPartialWord = (text: string): string => (text.length < excerptBefore ? text : text.replace(/^\S*\s?/u, ''))

function cleaned(text: string): string {
  const isPlain = plainLines.test(text)
  if (isPlain && !spread.test(text)) return text
  const spaced = text.replace(spaces, ' ').replace(lineBreaks, '\n')
  if (isPlain || plainLines.test(spaced)) return spaced
  const normal = isOrdinary(spaced) ? spaced.normalize('NFKC') : normalForm(spaced.replace(sentenceLigatures, ' '), 'NFKC')
  const visible = isOrdinary(normal) ? normal : normal.replace(unseen, '')
  // A few capitals are longer in lower case, which would shift the indexes.
  const lower = visible.toLowerCase()
  return lower.length === visible.length ? visible : lower
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
