import { tableData } from './table-data.ts'
import type { WeightedWords } from './words.ts'

/** Dimensions of a vector. */
export const dimensions = 100
const bytesPerRow = 4 + dimensions / 2

/** Vectors of English words, trained so that a request is close to the tools that serve it. */
export class MeaningTable {
  readonly #rows: Uint8Array
  readonly #scales: DataView
  readonly #numbers = new Map<string, number>()

  constructor(words: string, rows: string) {
    this.#rows = decoded(rows)
    this.#scales = new DataView(this.#rows.buffer)
    for (const [number, word] of words.split(' ').entries()) this.#numbers.set(word, number)
  }

  readonly has = (word: string): boolean => this.#numbers.has(word)

  /** Returns the unit vector of a text; undefined if the table has none of its words. */
  vectorOf(words: WeightedWords): Float32Array | undefined {
    const vector = new Float32Array(dimensions)
    for (const [word, weight] of words) {
      const number = this.#numbers.get(word)
      if (number === undefined) continue
      const start = number * bytesPerRow
      const factor = weight * this.#scales.getFloat32(start, true)
      for (let i = 0; i < dimensions; i += 2) {
        const pair = this.#rows[start + 4 + i / 2] as number
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

/** Decodes base64 without padding: the standard library has no decoder that every runtime shares. */
function decoded(base64: string): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128)
  for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i
  const bytes = new Uint8Array((base64.length / 4) * 3)
  const valueAt = (at: number): number => values[base64.charCodeAt(at)] as number
  for (let from = 0, to = 0; from < base64.length; from += 4, to += 3) {
    const bits = (valueAt(from) << 18) | (valueAt(from + 1) << 12) | (valueAt(from + 2) << 6) | valueAt(from + 3)
    bytes[to] = bits >> 16
    bytes[to + 1] = (bits >> 8) & 255
    bytes[to + 2] = bits & 255
  }
  return bytes
}

let table: MeaningTable | undefined

/** The built-in table; decoded on first use. */
export function meaningTable(): MeaningTable {
  if (table === undefined) {
    const { words, rows } = tableData()
    table = new MeaningTable(words, rows)
  }
  return table
}
