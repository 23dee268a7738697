import { Histogram, noBin } from './histogram.ts'
import { dimensions } from './table.ts'

const bytesPerSketch = 16
const wordsPerSketch = bytesPerSketch / 4
const valuesOfByte = 256

/** Estimated cosines of the documents. */
export interface Estimates {
  /** Bin of the histogram by document; `noBin` for a hidden one, or one without a vector. Valid until the next query. */
  readonly bins: Uint16Array
  /** Valid until the next query, too. */
  readonly histogram: Histogram
}

/** A bit for each value of a vector: its sign. Estimates the cosines of all documents in a tenth of the time that vectors take. */
export class Sketches {
  #words = new Int32Array(0)
  /** Factor from the sum of signed values to the cosine by document; 0 for a document without a vector. */
  #scales = new Float32Array(0)
  #bins = new Uint16Array(0)
  readonly #sums = new Int16Array(bytesPerSketch * valuesOfByte)
  readonly #histogram = new Histogram()

  set(document: number, vector: Float32Array | undefined): void {
    if (document >= this.#scales.length) this.#grow(document + 1)
    this.#scales[document] = 0
    if (vector === undefined) return
    let total = 0
    for (let word = 0; word < wordsPerSketch; word++) {
      let bits = 0
      for (let bit = 0; bit < 32; bit++) {
        const value = vector[word * 32 + bit] ?? 0
        total += Math.abs(value)
        if (value >= 0) bits |= 1 << bit
      }
      this.#words[document * wordsPerSketch + word] = bits
    }
    this.#scales[document] = total / dimensions
  }

  /** Estimates the cosines of the first `count` documents; `scale` is the factor from the integers to the values of the query. */
  estimate(query: Int8Array, scale: number, count: number, visible: Uint8Array | undefined): Estimates {
    if (this.#bins.length < count) this.#bins = new Uint16Array(Math.ceil(count * 1.25))
    this.#sumBytes(query)
    const histogram = this.#histogram
    histogram.clear()
    const bins = this.#bins
    const sums = this.#sums
    const words = this.#words
    for (let document = 0; document < count; document++) {
      const factor = scale * (this.#scales[document] ?? 0)
      if (factor === 0 || (visible !== undefined && visible[document] === 0)) {
        bins[document] = noBin
        continue
      }
      const start = document * wordsPerSketch
      // Not a loop: this runs for every tool of a catalogue, and takes a third of the time this way.
      const sum =
        sumOfWord(sums, 0, words[start] as number) +
        sumOfWord(sums, 1, words[start + 1] as number) +
        sumOfWord(sums, 2, words[start + 2] as number) +
        sumOfWord(sums, 3, words[start + 3] as number)
      bins[document] = histogram.add(factor * sum)
    }
    return { bins, histogram }
  }

  /** Sums the query with each combination of eight signs, so that a document takes one addition for eight values. */
  #sumBytes(query: Int8Array): void {
    const sums = this.#sums
    for (let byte = 0; byte < bytesPerSketch; byte++) {
      const start = byte * valuesOfByte
      let negative = 0
      for (let bit = 0; bit < 8; bit++) negative -= query[byte * 8 + bit] ?? 0
      sums[start] = negative
      for (let bits = 1; bits < valuesOfByte; bits++) {
        const highest = 31 - Math.clz32(bits)
        sums[start + bits] = (sums[start + bits - (1 << highest)] as number) + 2 * (query[byte * 8 + highest] ?? 0)
      }
    }
  }

  #grow(count: number): void {
    const capacity = Math.max(64, Math.ceil(count * 1.25))
    const words = new Int32Array(capacity * wordsPerSketch)
    const scales = new Float32Array(capacity)
    words.set(this.#words)
    scales.set(this.#scales)
    this.#words = words
    this.#scales = scales
  }
}

/** Sum of the 32 values of the query with the signs of a word. */
function sumOfWord(sums: Int16Array, word: number, bits: number): number {
  const start = word * 4 * valuesOfByte
  return (
    (sums[start + (bits & 255)] as number) +
    (sums[start + valuesOfByte + ((bits >>> 8) & 255)] as number) +
    (sums[start + 2 * valuesOfByte + ((bits >>> 16) & 255)] as number) +
    (sums[start + 3 * valuesOfByte + (bits >>> 24)] as number)
  )
}
