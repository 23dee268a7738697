import type { VisibleDocuments } from '../scoring/holders.ts'
import { TopDocuments } from '../scoring/top-documents.ts'
import { Histogram, noBin } from './histogram.ts'
import { Sketches } from './sketches.ts'
import { dimensions } from './table.ts'

/** How close the visible documents are to a query. */
export interface Closeness {
  /** Cosine of a visible document; 0 for one without a vector. */
  readonly cosine: (document: number) => number
  readonly median: number
  readonly highest: number
  /** The closest documents. */
  readonly best: readonly number[]
}

/** A source with most of the documents could otherwise raise the median until the documents of others do not stand out. */
const maxMedian = 0.15
/** Less similar documents have little in common with the query. */
const minCosine = 0.3
/** Cosines are computed for the highest estimates, this many times the root of the number of documents: 600 of 10,000 … */
const computedPerRoot = 6
/** … and for those around the median of the estimates. */
const computedAroundMedian = 40

/** Vectors of documents with a byte per value: a hundred thousand tools take eleven megabytes. */
export class DocumentVectors {
  /** Four values in each number: reading them one by one takes longer than computing with them. */
  #values = new Int32Array(0)
  /** Factor to a unit vector by document; 0 for a document without a vector. */
  #scales = new Float32Array(0)
  readonly #sketches = new Sketches()
  readonly #computed = new Histogram()

  set(document: number, vector: Float32Array | undefined): void {
    if (document >= this.#scales.length) this.#grow(document + 1)
    this.#sketches.set(document, vector)
    this.#scales[document] = 0
    if (vector === undefined) return
    const most = mostOf(vector)
    this.#scales[document] = most / 127
    const integerAt = (i: number): number => Math.round(((vector[i] as number) / most) * 127) & 255
    for (let i = 0; i < dimensions; i += 4)
      this.#values[(document * dimensions + i) / 4] =
        integerAt(i) | (integerAt(i + 1) << 8) | (integerAt(i + 2) << 16) | (integerAt(i + 3) << 24)
  }

  /** Compares a query with the first `count` documents. Finds nearly all of the closest ones: the estimates leave out the others. */
  compare(
    query: Float32Array,
    count: number,
    { visible }: VisibleDocuments,
    best: { readonly count: number; readonly comesFirst: (a: number, b: number) => boolean },
  ): Closeness {
    const { integers, scale } = quantized(query)
    const { bins, histogram } = this.#sketches.estimate(integers, scale, count, visible)
    const top = histogram.topBin(computedPerRoot * Math.sqrt(histogram.total))
    const middle = histogram.middleBins(computedAroundMedian)
    const cosine = (document: number): number => scale * this.#product(integers, document)
    const computed = this.#computed
    computed.clear()
    const heap = new TopDocuments(best.count, best.comesFirst)
    let highest = 0
    for (let document = 0; document < count; document++) {
      const bin = bins[document] as number
      if (bin === noBin || (bin < top && (bin < middle.from || bin > middle.to))) continue
      const exact = cosine(document)
      if (bin >= middle.from && bin <= middle.to) computed.add(exact)
      if (exact > highest) highest = exact
      if (exact >= minCosine && exact >= heap.threshold) heap.offer(document, exact)
    }
    return { cosine, median: Math.min(maxMedian, computed.median), highest, best: heap.documents }
  }

  /** Product of a query and the vector of a document. Integers, because converting bytes to floating point takes most of the time. */
  #product(query: Int8Array, document: number): number {
    const values = this.#values
    const start = (document * dimensions) / 4
    let sum = 0
    for (let i = 0; i < dimensions; i += 4) {
      const four = values[start + i / 4] as number
      sum =
        (sum +
          Math.imul((four << 24) >> 24, query[i] as number) +
          Math.imul((four << 16) >> 24, query[i + 1] as number) +
          Math.imul((four << 8) >> 24, query[i + 2] as number) +
          Math.imul(four >> 24, query[i + 3] as number)) |
        0
    }
    return (this.#scales[document] ?? 0) * sum
  }

  #grow(count: number): void {
    const capacity = Math.max(64, Math.ceil(count * 1.25))
    const values = new Int32Array((capacity * dimensions) / 4)
    const scales = new Float32Array(capacity)
    values.set(this.#values)
    scales.set(this.#scales)
    this.#values = values
    this.#scales = scales
  }
}

/** Values as integers from -127 to 127, and the factor to the original values. */
function quantized(vector: Float32Array): { readonly integers: Int8Array; readonly scale: number } {
  const most = mostOf(vector)
  const integers = new Int8Array(dimensions)
  for (let i = 0; i < dimensions; i++) integers[i] = Math.round(((vector[i] as number) / most) * 127)
  return { integers, scale: most / 127 }
}

function mostOf(vector: Float32Array): number {
  let most = 0
  for (let i = 0; i < dimensions; i++) most = Math.max(most, Math.abs(vector[i] as number))
  return most
}
