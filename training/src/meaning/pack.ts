import type { Model } from './model.ts'
import { dimensions, type WordVectors } from './vectors.ts'

/** Number of words in the table. */
const tableSize = 14_000

/** The table as the search reads it. */
export interface PackedTable {
  readonly words: readonly string[]
  /** For each word: the scale as 32-bit float, then two values of four bits in each byte. */
  readonly rows: Buffer
}

/** Chooses words that are frequent or occur in the pairs, and reduces their rows to four bits per value. */
export function pack({ words }: WordVectors, models: readonly Model[], seen: ReadonlyMap<number, number>): PackedTable {
  const value = (word: number): number => 2 * Math.log(1 + (seen.get(word) ?? 0)) - 0.5 * Math.log(word + 10)
  const chosen = words
    .map((_, index) => index)
    .sort((a, b) => value(b) - value(a) || a - b)
    .slice(0, tableSize)
    .sort((a, b) => ((words[a] ?? '') < (words[b] ?? '') ? -1 : 1))
  const rows = Buffer.concat(chosen.map((word) => packedRow(meanRow(models, word))))
  return { words: chosen.map((word) => words[word] ?? ''), rows }
}

function meanRow(models: readonly Model[], word: number): Float64Array {
  const mean = new Float64Array(dimensions)
  for (const model of models) {
    const row = model.row(word)
    for (let i = 0; i < dimensions; i++) mean[i] = (mean[i] as number) + (row[i] as number) / models.length
  }
  return mean
}

function packedRow(row: Float64Array): Buffer {
  const scale = row.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 7 || 1
  const packed = Buffer.alloc(4 + dimensions / 2)
  packed.writeFloatLE(scale)
  for (let i = 0; i < dimensions; i += 2) {
    const nibble = (value: number | undefined): number => Math.round((value ?? 0) / scale) + 8
    packed[4 + i / 2] = nibble(row[i]) | (nibble(row[i + 1]) << 4)
  }
  return packed
}
