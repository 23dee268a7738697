import type { VisibleDocuments } from '../scoring/holders.ts'
import { TopDocuments } from '../scoring/top-documents.ts'
import { dimensions } from './table.ts'

/** How close each visible document is to a query. */
export interface Closeness {
  /** Cosine by document. */
  readonly cosines: Float32Array
  readonly median: number
  readonly highest: number
  /** The closest documents. */
  readonly best: readonly number[]
}

const bins = 256
/** A source with most of the documents could otherwise raise the median until the documents of others do not stand out. */
const maxMedian = 0.15
/** Less similar documents have little in common with the query. */
const minCosine = 0.3

/** Vectors of documents with a byte per value: a hundred thousand tools take ten megabytes. */
export class DocumentVectors {
  #values = new Int8Array(0)
  /** Factor to a unit vector by document; 0 for a document without a vector. */
  #scales = new Float32Array(0)

  set(document: number, vector: Float32Array | undefined): void {
    if (document >= this.#scales.length) this.#grow(document + 1)
    this.#scales[document] = 0
    if (vector === undefined) return
    let most = 0
    for (let i = 0; i < dimensions; i++) most = Math.max(most, Math.abs(vector[i] as number))
    this.#scales[document] = most / 127
    for (let i = 0; i < dimensions; i++)
      this.#values[document * dimensions + i] = Math.round(((vector[i] as number) / most) * 127)
  }

  /** Compares a query with the first `count` documents. */
  compare(
    query: Float32Array,
    count: number,
    { visible }: VisibleDocuments,
    best: { readonly count: number; readonly comesFirst: (a: number, b: number) => boolean },
  ): Closeness {
    const values = this.#values
    const { integers, scale: queryScale } = quantized(query)
    const cosines = new Float32Array(count)
    const histogram = new Uint32Array(bins)
    const heap = new TopDocuments(best.count, best.comesFirst)
    let highest = 0
    let compared = 0
    for (let document = 0; document < count; document++) {
      const scale = this.#scales[document] ?? 0
      if (scale === 0 || (visible !== undefined && visible[document] === 0)) continue
      const start = document * dimensions
      // Integers, because converting bytes to floating point takes most of the time; this loop runs for every tool of a catalogue.
      let sum = 0
      for (let i = 0; i < dimensions; i += 4) {
        sum =
          (sum +
            (values[start + i] as number) * (integers[i] as number) +
            (values[start + i + 1] as number) * (integers[i + 1] as number) +
            (values[start + i + 2] as number) * (integers[i + 2] as number) +
            (values[start + i + 3] as number) * (integers[i + 3] as number)) |
          0
      }
      const cosine = scale * queryScale * sum
      cosines[document] = cosine
      const bin = Math.min(bins - 1, Math.max(0, Math.floor(((cosine + 1) / 2) * bins)))
      histogram[bin] = (histogram[bin] as number) + 1
      compared++
      if (cosine > highest) highest = cosine
      if (cosine >= minCosine && cosine >= heap.threshold) heap.offer(document, cosine)
    }
    return { cosines, median: Math.min(maxMedian, medianOf(histogram, compared)), highest, best: heap.documents }
  }

  #grow(count: number): void {
    const capacity = Math.max(64, Math.ceil(count * 1.25))
    const values = new Int8Array(capacity * dimensions)
    const scales = new Float32Array(capacity)
    values.set(this.#values)
    scales.set(this.#scales)
    this.#values = values
    this.#scales = scales
  }
}

/** Values as integers from -127 to 127, and the factor to the original values. */
function quantized(vector: Float32Array): { readonly integers: Int8Array; readonly scale: number } {
  let most = 0
  for (let i = 0; i < dimensions; i++) most = Math.max(most, Math.abs(vector[i] as number))
  const integers = new Int8Array(dimensions)
  for (let i = 0; i < dimensions; i++) integers[i] = Math.round(((vector[i] as number) / most) * 127)
  return { integers, scale: most / 127 }
}

function medianOf(histogram: Uint32Array, count: number): number {
  let below = 0
  for (const [bin, inside] of histogram.entries()) {
    below += inside
    if (below * 2 >= count) return ((bin + 0.5) / bins) * 2 - 1
  }
  return 0
}
