import { enlarged } from './postings.ts'

/** Terms of an index with reusable numbers. */
export class Vocabulary {
  readonly #numbers = new Map<string, number>()
  readonly #terms: (string | undefined)[] = []
  readonly #vacant: number[] = []
  /** Bit set of letters, to skip dissimilar terms quickly. */
  #letters = new Uint32Array(256)
  /** First letter of a term; 0 for terms without spelling correction. */
  #initials = new Uint16Array(256)

  numberOf(term: string): number | undefined {
    return this.#numbers.get(term)
  }

  termOf(number: number): string {
    return this.#terms[number] ?? ''
  }

  /** Returns the number of a term, and assigns one if it is new. */
  admit(term: string): number {
    const known = this.#numbers.get(term)
    if (known !== undefined) return known
    const number = this.#vacant.pop() ?? this.#terms.length
    this.#numbers.set(term, number)
    this.#terms[number] = term
    if (number >= this.#letters.length) {
      this.#letters = enlarged(this.#letters, number * 2)
      const initials = new Uint16Array(number * 2)
      initials.set(this.#initials)
      this.#initials = initials
    }
    this.#letters[number] = lettersOf(term)
    this.#initials[number] = isSpellable(term) ? term.charCodeAt(0) : 0
    return number
  }

  release(number: number): void {
    this.#numbers.delete(this.termOf(number))
    this.#terms[number] = undefined
    this.#initials[number] = 0
    this.#vacant.push(number)
  }

  /** Returns terms within one edit (two in a long word) of `word` or its stem, nearest first. */
  similarTo(word: string, stemmed: string, accept: (number: number) => boolean): readonly SimilarTerm[] {
    if (word.length < minMisspeltLength || !isSpellable(word)) return []
    const reach = word.length >= longWord ? 2 : 1
    // The first letter is rarely wrong, and without it "home" would match "Rome".
    const initial = word.charCodeAt(0)
    const letters = lettersOf(word)
    const stemLetters = lettersOf(stemmed)
    const found: { number: number; term: string; distance: number }[] = []
    const initials = this.#initials
    const letterSets = this.#letters
    const count = this.#terms.length
    for (let number = 0; number < count; number++) {
      if (initials[number] !== initial) continue
      const others = letterSets[number] as number
      if (bitsIn(letters ^ others) > 2 * reach && bitsIn(stemLetters ^ others) > 2 * reach) continue
      const term = this.termOf(number)
      const distance = Math.min(editDistance(word, term, reach), editDistance(stemmed, term, reach))
      if (distance <= reach && accept(number)) found.push({ number, term, distance })
    }
    return found
      .sort((a, b) => a.distance - b.distance || (a.term < b.term ? -1 : 1))
      .slice(0, maxSimilar)
      .map(({ number, distance }) => ({ number, similarity: 1 - (2 * distance) / word.length }))
  }
}

export interface SimilarTerm {
  readonly number: number
  /** 1 for the same word; each edit reduces it, more in a short word. */
  readonly similarity: number
}

const maxSimilar = 4
const minMisspeltLength = 4
const longWord = 9

const isSpellable = (term: string): boolean => term.length >= minMisspeltLength && term.length <= 32 && /^\p{L}+$/u.test(term)

function lettersOf(term: string): number {
  let letters = 0
  for (let i = 0; i < term.length; i++) letters |= 1 << (term.charCodeAt(i) & 31)
  return letters >>> 0
}

function bitsIn(value: number): number {
  let rest = value - ((value >>> 1) & 0x55555555)
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333)
  return (((rest + (rest >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24
}

/** Damerau-Levenshtein distance, or `reach + 1` if it is larger. */
function editDistance(a: string, b: string, reach: number): number {
  if (Math.abs(a.length - b.length) > reach) return reach + 1
  // Three rows that are reused: a query compares many terms.
  let [before, previous, current] = rows
  if (previous.length <= b.length) rows = [before, previous, current] = [rowFor(b), rowFor(b), rowFor(b)]
  for (let j = 0; j <= b.length; j++) previous[j] = j
  for (let i = 1; i <= a.length; i++) {
    const letter = a.charCodeAt(i - 1)
    let best = i
    current[0] = i
    for (let j = 1; j <= b.length; j++) {
      const same = letter === b.charCodeAt(j - 1) ? 0 : 1
      let value = Math.min((previous[j - 1] as number) + same, (previous[j] as number) + 1, (current[j - 1] as number) + 1)
      if (i > 1 && j > 1 && letter === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1))
        value = Math.min(value, (before[j - 2] as number) + 1)
      current[j] = value
      if (value < best) best = value
    }
    if (best > reach) return reach + 1
    ;[before, previous, current] = [previous, current, before]
  }
  return previous[b.length] as number
}

const rowFor = ({ length }: string): Uint16Array => new Uint16Array(2 * length + 64)

let rows: [Uint16Array, Uint16Array, Uint16Array] = [rowFor(''), rowFor(''), rowFor('')]
