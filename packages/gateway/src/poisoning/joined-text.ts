import { normalForm } from '@unfold-mcp/core'
import type { TextPart } from './text-parts.ts'

/** The texts of a definition in one, as a model reads them: so each rule looks at them once, however many they are. */
export interface JoinedText {
  /** One after another, with `separator` around each; white space is a single character. */
  readonly shown: string
  /** The same in small letters, each letter at the same place; those that only look like Latin ones are Latin. */
  readonly words: string
  /** Where a place of the text stands in the definition. */
  surfaceAt(place: number): string
  /** What stands around a place within its own surface, at most so far to either side. */
  around(place: number, reach: number): { readonly shown: string; readonly words: string }
  /** The words from shortly before a place on, to show them. */
  excerpt(place: number): string
}

/** Stands around each text; it is in none of them. */
const separator = '\0'

const plain = /^[ -~]*$/
const plainLines = /^[\n -~]*$/
const plainParts = /^[\0\n -~]*$/
const spaces = /\s+/g
const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Variation_Selector}]/gu

// As plain letters, one of these is a whole sentence; a text of them would be twenty times as long.
const sentences = /[\u{FDFA}\u{FDFB}]/gu

// Letters of other scripts that look like Latin ones.
const looks: ReadonlyMap<string, string> = new Map(
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
const alike = new RegExp(`[${[...looks.keys()].join('')}]`, 'gu')

/** Reads the texts of a definition. */
export function joinText(surfaces: readonly TextPart[]): JoinedText {
  const starts: number[] = []
  const parts: string[] = []
  let length = 1
  for (const { text } of surfaces) {
    const part = cleaned(text)
    starts.push(length)
    parts.push(part)
    length += part.length + 1
  }
  const shown = `${separator}${parts.join(separator)}${separator}`
  const small = shown.toLowerCase()
  const words = plainParts.test(shown) ? small : small.replace(alike, (letter) => looks.get(letter) ?? letter)
  // Only so far is looked for the ends of the surface: it may be long, and this is asked for often.
  const ahead = (place: number, most: number): string =>
    shown
      .slice(Math.max(0, place - most), place)
      .split(separator)
      .at(-1) ?? ''
  const behind = (place: number, most: number): string =>
    shown
      .slice(place, place + most)
      .split(separator, 1)
      .join('')
  return {
    shown,
    words,
    surfaceAt: (place) => surfaces[indexAt(starts, place)]?.path() ?? '',
    around(place, reach) {
      const [from, to] = [place - ahead(place, reach).length, place + behind(place, reach).length]
      return { shown: shown.slice(from, to), words: words.slice(from, to) }
    },
    excerpt: (place) => `${wholeWords(ahead(place, shownBefore))}${behind(place, shownAfter)}`,
  }
}

const shownBefore = 24
const shownAfter = 200

/** A text that was cut at its beginning, from its first whole word on. */
const wholeWords = (text: string): string => (text.length < shownBefore ? text : text.replace(/^\S*\s?/u, ''))

function cleaned(text: string): string {
  if (plain.test(text) && !text.includes('  ')) return text
  const spaced = text.replace(spaces, (run) => (run.includes('\n') ? '\n' : ' '))
  if (plainLines.test(spaced)) return spaced
  const normal = normalForm(spaced.replace(sentences, ' '), 'NFKC').replace(unseen, '')
  // A few capitals are longer as small letters; then those are shown, so that places stay the same.
  const small = normal.toLowerCase()
  return small.length === normal.length ? normal : small
}

/** The last start that is not behind the place. */
function indexAt(starts: readonly number[], place: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= place) low = middle
    else high = middle - 1
  }
  return low
}
