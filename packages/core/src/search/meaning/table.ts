import { tableData } from './table-data.ts'
import { WordNumbers } from './word-numbers.ts'
import type { WeightedWords } from './words.ts'

/** Dimensions of a vector. */
export const dimensions = 100
const bytesPerRow = 4 + dimensions / 2
const charactersPerRow = (bytesPerRow / 3) * 4

/** Vectors of English words, trained so that a request is close to the tools that serve it. */
export class MeaningTable {
  /** Rows in base64. They stay as they are in the module: a decoded copy would take as much memory again. */
  readonly #rows: string
  readonly #words: WordNumbers
  readonly #row = new Uint8Array(bytesPerRow)
  readonly #scale = new DataView(this.#row.buffer)

  constructor(words: string, rows: string) {
    this.#rows = rows
    this.#words = new WordNumbers(words)
  }

  readonly has = (word: string): boolean => this.#words.numberOf(word) !== undefined

  /** Returns the unit vector of a text; undefined if the table has none of its words. */
  vectorOf(words: WeightedWords): Float32Array | undefined {
    const vector = new Float32Array(dimensions)
    for (const [word, weight] of words) {
      const number = this.#words.numberOf(word)
      if (number === undefined) continue
      const row = this.#row
      decode(this.#rows, number * charactersPerRow, row)
      const factor = weight * this.#scale.getFloat32(0, true)
      for (let i = 0; i < dimensions; i += 2) {
        const pair = row[4 + i / 2] as number
        vector[i] = (vector[i] as number) + factor * ((pair & 15) - 8)
        vector[i + 1] = (vector[i + 1] as number) + factor * ((pair >> 4) - 8)
      }
    }
    let squares = 0
    for (let i = 0; i < dimensions; i++) squares += (vector[i] as number) ** 2
    if (squares === 0) return undefined
    const length = Math.sqrt(squares)
    for (let i = 0; i < dimensions; i++) vector[i] = (vector[i] as number) / length
    return vector
  }
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

const sextets = new Uint8Array(128)
for (let i = 0; i < alphabet.length; i++) sextets[alphabet.charCodeAt(i)] = i

/** Decodes base64 into `bytes`: the standard library has no decoder that every runtime shares. */
function decode(base64: string, start: number, bytes: Uint8Array): void {
  for (let from = start, to = 0; to < bytes.length; from += 4, to += 3) {
    const bits =
      ((sextets[base64.charCodeAt(from)] as number) << 18) |
      ((sextets[base64.charCodeAt(from + 1)] as number) << 12) |
      ((sextets[base64.charCodeAt(from + 2)] as number) << 6) |
      (sextets[base64.charCodeAt(from + 3)] as number)
    bytes[to] = bits >> 16
    bytes[to + 1] = (bits >> 8) & 255
    bytes[to + 2] = bits & 255
  }
}

let table: MeaningTable | undefined

/** The built-in table; read on first use. */
export function meaningTable(): MeaningTable {
  if (table === undefined) {
    const { words, rows } = tableData()
    table = new MeaningTable(words, rows)
  }
  return table
}
