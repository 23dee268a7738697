import type { Embedded, Model } from './model.ts'
import { dimensions } from './vectors.ts'

/** Sum of the gradients of one step. */
export class Gradient {
  readonly map = new Float64Array(dimensions * dimensions)
  readonly offsets = new Map<number, Float64Array>()
  readonly importance = new Map<number, number>()
  readonly #model: Model

  constructor(model: Model) {
    this.#model = model
  }

  /** Adds the gradient of the loss with respect to the unit vector of a text. */
  add({ text, base, unit, length }: Embedded, byUnit: Float64Array): void {
    const { map, general, offsets, importance } = this.#model
    let along = 0
    for (let i = 0; i < dimensions; i++) along += (byUnit[i] as number) * (unit[i] as number)
    const bySum = new Float64Array(dimensions)
    for (let i = 0; i < dimensions; i++) bySum[i] = ((byUnit[i] as number) - along * (unit[i] as number)) / length
    const byBase = new Float64Array(dimensions)
    for (let i = 0; i < dimensions; i++) {
      const start = i * dimensions
      const factor = base[i] as number
      let sum = 0
      for (let j = 0; j < dimensions; j++) {
        const each = bySum[j] as number
        sum += (map[start + j] as number) * each
        this.map[start + j] = (this.map[start + j] as number) + factor * each
      }
      byBase[i] = sum
    }
    for (const [index, word] of text.words.entries()) {
      const weight = (text.weights[index] as number) * Math.exp(importance[word] as number)
      const start = word * dimensions
      let byOffset = this.offsets.get(word)
      if (byOffset === undefined) {
        byOffset = new Float64Array(dimensions)
        this.offsets.set(word, byOffset)
      }
      let sum = 0
      for (let i = 0; i < dimensions; i++) {
        const each = bySum[i] as number
        byOffset[i] = (byOffset[i] as number) + weight * each
        sum += (general[start + i] as number) * (byBase[i] as number) + (offsets[start + i] as number) * each
      }
      this.importance.set(word, (this.importance.get(word) ?? 0) + weight * sum)
    }
  }
}
