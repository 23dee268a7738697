import { normalForm } from '../../base/normalize.ts'
import { stem } from './stemmer.ts'
import { isStopWord } from './stopwords.ts'

/** Tokenization: a name keeps every part; prose drops numbers and stop words. */
export type Reading = 'name' | 'prose'

/** Calls `visit` with every run of letters and digits until it returns false; scripts without spaces are segmented. */
export function eachWord(text: string, visit: (word: string, start: number) => unknown): void {
  if (!isAscii(text)) {
    eachWordOfAnyScript(text, visit)
    return
  }
  let start = -1
  for (let i = 0; i <= text.length; i++) {
    if (i < text.length && isAlphanumeric(text.charCodeAt(i))) {
      if (start === -1) start = i
    } else if (start !== -1) {
      if (visit(text.slice(start, i), start) === false) return
      start = -1
    }
  }
}

const isAlphanumeric = (unit: number): boolean =>
  (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90) || (unit >= 48 && unit <= 57)

function eachWordOfAnyScript(text: string, visit: (word: string, start: number) => unknown): void {
  for (const { 0: run, index } of text.matchAll(runs)) {
    if (!unspaced.test(run)) {
      if (visit(run, index) === false) return
    } else {
      for (const { segment, index: inside, isWordLike } of segmented(run))
        if (isWordLike === true && visit(segment, index + inside) === false) return
    }
  }
}

function segmented(run: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' })
  return segmenter.segment(run)
}

const scriptsWithoutSpaces = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{scx=${script}}`)
  .join('')
const unspaced = new RegExp(`^[${scriptsWithoutSpaces}]`, 'u')
const runs = new RegExp(`[${scriptsWithoutSpaces}]+|(?:(?![${scriptsWithoutSpaces}])[\\p{L}\\p{N}]\\p{M}*)+`, 'gu')
// Created on demand: slow to construct, rarely needed.
let segmenter: Intl.Segmenter | undefined

/** Normalizes spelling: compatibility forms, accents, invisible characters. */
export function fold(text: string): string {
  // Thai and Lao are excluded: NFKD decomposes their vowels, and the segmenter no longer finds the words.
  return isAscii(text)
    ? text
    : text.replaceAll(/[^\u0e00-\u0eff]+/gu, (part) => normalForm(normalForm(part, 'NFKD').replaceAll(ignorable, ''), 'NFC'))
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false
  return true
}

/** Accents and invisible characters: soft hyphens, joiners, directions, variation selectors, tags. */
const ignorable = /[\u0300-\u036f]|\p{Default_Ignorable_Code_Point}/gu

/** Returns the index terms of a word: its stem; for a compound ("getUserByID", "base64") its parts and the whole. */
export function termsOf(word: string, reading: Reading): readonly string[] {
  if (word.length > maxWordLength) return []
  if (/^(?:[A-Z]?[a-z]+|[A-Z]+)$/.test(word)) return simpleTerms(word.toLowerCase(), reading)
  if (/^\p{N}+$/u.test(word)) return reading === 'name' ? [word] : []
  if (pairable.test(word)) return [...new Set([word, ...pairsOf(word)])]
  const parts = word.match(partsOfWord) ?? [word]
  const terms = new Set(parts.flatMap((part) => partTerms(part, reading)))
  if (parts.length > 1) for (const joined of [...joinedPairs(parts), word]) terms.add(stem(joined.toLowerCase()))
  return [...terms]
}

/** Longer words are keys, hashes or attacks. */
const maxWordLength = 64

function simpleTerms(word: string, reading: Reading): readonly string[] {
  if (reading === 'prose' && (word.length === 1 || isStopWord(word))) return []
  return [stem(word)]
}

/** Splits camel case; keeps capitals together ("HTTPServer"), and digits with the preceding letters ("base64"). */
const partsOfWord = /\p{Lu}{2,}s(?!\p{Ll})|\p{N}*(?:\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[\p{Lo}\p{Lm}\p{Lt}]+)\p{M}*\p{N}*|\p{N}+/gu

function partTerms(part: string, reading: Reading): readonly string[] {
  const lower = part.toLowerCase()
  if (/^\p{N}+$/u.test(lower)) return reading === 'name' ? [lower] : []
  const letters = /^(\p{L}{3,})\p{N}+$/u.exec(lower)?.[1]
  return letters === undefined ? simpleTerms(lower, reading) : [lower, stem(letters)]
}

/** Joins neighbours in camel case, so that "youtube" finds getYouTubeVideo. */
const joinedPairs = (parts: readonly string[]): readonly string[] =>
  parts.length === 2 ? [] : parts.slice(1).map((part, index) => `${parts[index]}${part}`)

/** Scripts whose segmentation may differ between query and text; bigrams match anyway. */
const pairable = /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}]{3,}$/u

function pairsOf(word: string): readonly string[] {
  const characters = Array.from(word)
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}
