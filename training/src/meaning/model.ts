import { dimensions, type WordVectors } from './vectors.ts'

/** Words of a text by number, with their weights. */
export interface Text {
  readonly words: Uint32Array
  readonly weights: Float64Array
}

/** The vector of a text, with what the gradient needs. */
export interface Embedded {
  readonly text: Text
  /** Sum of the general vectors. */
  readonly base: Float64Array
  /** Unit vector. */
  readonly unit: Float64Array
  readonly length: number
}

/**
 * What is learned: row(w) = exp(importance_w) · (general_w · map + offset_w). A text is the normalized sum of its rows.
 */
export class Model {
  readonly general: Float64Array
  readonly map = new Float64Array(dimensions * dimensions)
  readonly offsets: Float64Array<ArrayBuffer>
  readonly importance: Float64Array<ArrayBuffer>

  constructor({ words, rows }: WordVectors) {
    this.general = rows
    this.offsets = new Float64Array(rows.length)
    this.importance = Float64Array.from(words, (_, rank) => initialImportance(rank))
    for (let i = 0; i < dimensions; i++) this.map[i * dimensions + i] = 1
  }

  embed(text: Text): Embedded {
    const base = new Float64Array(dimensions)
    const unit = new Float64Array(dimensions)
    for (const [index, word] of text.words.entries()) {
      const weight = (text.weights[index] as number) * Math.exp(this.importance[word] as number)
      const start = word * dimensions
      for (let i = 0; i < dimensions; i++) {
        base[i] = (base[i] as number) + weight * (this.general[start + i] as number)
        unit[i] = (unit[i] as number) + weight * (this.offsets[start + i] as number)
      }
    }
    for (let i = 0; i < dimensions; i++) {
      const factor = base[i] as number
      const start = i * dimensions
      for (let j = 0; j < dimensions; j++) unit[j] = (unit[j] as number) + factor * (this.map[start + j] as number)
    }
    let squares = 0
    for (let i = 0; i < dimensions; i++) squares += (unit[i] as number) ** 2
    const length = Math.sqrt(squares) || 1
    for (let i = 0; i < dimensions; i++) unit[i] = (unit[i] as number) / length
    return { text, base, unit, length }
  }

  /** Row of a word in the table. */
  row(word: number): Float64Array {
    const { unit, length } = this.embed({ words: Uint32Array.of(word), weights: Float64Array.of(1) })
    return unit.map((value) => value * length)
  }
}

/** Frequent words say less (smooth inverse frequency, with the frequency estimated from the rank). */
function initialImportance(rank: number): number {
  const frequency = 1 / (12.5 * (rank + 3))
  return Math.log(3e-3 / (3e-3 + frequency))
}
