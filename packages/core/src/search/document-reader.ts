import { ownName, type SearchDocument } from './document.ts'
import { fields } from './fields.ts'
import { eachWord, fold, type Reading, termsOf } from './language/tokenizer.ts'
import { keyOf, maxNameLength } from './query.ts'
import { termImpact } from './scoring/ranking.ts'
import { maxImpact } from './scoring/scoreboard.ts'
import type { Vocabulary } from './storage/vocabulary.ts'

/** Prefixes of names and keys; they never occur in terms. */
export const nameMark = '"'
export const keyMark = '='
/** Prefix of the key that copies of a tool share. */
export const cloneMark = '~'
const maxTextLength = 4_000
/** Copies of a tool have the same beginning of the description. */
const cloneTextLength = 80
/** Enough for the words that tools have in common; the others are rare. */
const maxKnownWords = 2_000

/** Tokenizes documents. */
export class DocumentReader {
  readonly #vocabulary: Vocabulary
  /** Cache of tokenized words: a catalog uses the same few thousand. */
  readonly #known: { readonly [R in Reading]: Map<string, readonly string[]> } = { name: new Map(), prose: new Map() }

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
  }

  /** Returns the term numbers, and a payload of impact and fields for each. */
  read(document: SearchDocument): { readonly terms: Uint32Array; readonly payloads: Uint32Array } {
    const rows = new Map<number, number>()
    let counts = new Uint16Array(64 * fields.length)
    const lengths = new Float64Array(fields.length)
    for (const [index, { reading, limit, textsOf }] of fields.entries()) {
      let length = 0
      for (const text of textsOf(document)) {
        if (text === undefined || length >= limit) continue
        eachWord(fold(text.slice(0, maxTextLength)), (word) => {
          for (const term of this.termsOf(word, reading)) {
            const number = this.#vocabulary.admit(term)
            let row = rows.get(number)
            if (row === undefined) {
              row = rows.size
              rows.set(number, row)
              if (rows.size * fields.length > counts.length) counts = doubled(counts)
            }
            const at = row * fields.length + index
            counts[at] = (counts[at] ?? 0) + 1
            length++
          }
          return length < limit
        })
      }
      lengths[index] = length
    }
    const marks = Array.from(nameKeys(document), (marked) => this.#vocabulary.admit(marked))
    const terms = new Uint32Array(rows.size + marks.length)
    const payloads = new Uint32Array(terms.length)
    for (const [number, row] of rows) {
      terms[row] = number
      payloads[row] = payloadOf(counts, row, lengths)
    }
    terms.set(marks, rows.size)
    return { terms, payloads }
  }

  /** Returns the terms of a word. */
  readonly termsOf = (word: string, reading: Reading): readonly string[] => {
    const known = this.#known[reading]
    const found = known.get(word)
    if (found !== undefined) return found
    const terms = termsOf(word, reading)
    if (known.size >= maxKnownWords) known.clear()
    known.set(word, terms)
    return terms
  }
}

function payloadOf(counts: Uint16Array, row: number, lengths: Float64Array): number {
  let mask = 0
  for (let i = 0; i < fields.length; i++) if ((counts[row * fields.length + i] ?? 0) > 0) mask |= 1 << i
  const impact = Math.round(termImpact(counts, row, lengths) * maxImpact)
  return ((impact << 16) | mask) >>> 0
}

function doubled(array: Uint16Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  const larger = new Uint16Array(array.length * 2)
  larger.set(array)
  return larger
}

/** Returns the name as written, the key of its copies, and the keys of the name, with and without the server, and of the title. */
function nameKeys(document: SearchDocument): ReadonlySet<string> {
  const { name, title = '', server = '', description = '' } = document
  const [nameKey = '', titleKey = '', serverKey = ''] = [name, title, server].map((text) => keyOf(text.slice(0, maxNameLength)))
  const keys = [nameKey, serverKey + nameKey, titleKey].filter((key) => key !== '')
  const start = keyOf(description.slice(0, cloneTextLength))
  return new Set([
    nameMark + name.slice(0, maxNameLength),
    ...keys.map((key) => keyMark + key),
    ...(start === '' ? [] : [`${cloneMark}${keyOf(ownName(document).slice(0, maxNameLength))} ${start}`]),
  ])
}
