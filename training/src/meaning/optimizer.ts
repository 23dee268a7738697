import type { Gradient } from './gradient.ts'
import type { Model } from './model.ts'
import { dimensions } from './vectors.ts'

const mapRate = 5e-4
const offsetRate = 0.01
const importanceRate = 0.05
/** Pulls the offset of a word to zero, so that rare words stay near their general meaning. */
const offsetDecay = 2e-3
const tiny = 1e-8

/** Adam for the map; Adagrad for each word, because most words are rare. */
export class Optimizer {
  readonly #model: Model
  readonly #mean: Float64Array
  readonly #variance: Float64Array
  readonly #offsetSquares: Float64Array
  readonly #importanceSquares: Float64Array
  #steps = 0

  constructor(model: Model) {
    this.#model = model
    this.#mean = new Float64Array(model.map.length)
    this.#variance = new Float64Array(model.map.length)
    this.#offsetSquares = new Float64Array(model.importance.length)
    this.#importanceSquares = new Float64Array(model.importance.length)
  }

  step(gradient: Gradient): void {
    this.#steps++
    this.#stepMap(gradient.map)
    for (const [word, each] of gradient.offsets) this.#stepOffset(word, each)
    for (const [word, each] of gradient.importance) {
      const squares = (this.#importanceSquares[word] as number) + each * each
      this.#importanceSquares[word] = squares
      this.#model.importance[word] =
        (this.#model.importance[word] as number) - (importanceRate * each) / (Math.sqrt(squares) + tiny)
    }
  }

  #stepMap(gradient: Float64Array): void {
    const { map } = this.#model
    const meanBias = 1 - 0.9 ** this.#steps
    const varianceBias = 1 - 0.999 ** this.#steps
    for (let i = 0; i < map.length; i++) {
      const each = gradient[i] as number
      const mean = 0.9 * (this.#mean[i] as number) + 0.1 * each
      const variance = 0.999 * (this.#variance[i] as number) + 0.001 * each * each
      this.#mean[i] = mean
      this.#variance[i] = variance
      map[i] = (map[i] as number) - (mapRate * (mean / meanBias)) / (Math.sqrt(variance / varianceBias) + tiny)
    }
  }

  #stepOffset(word: number, gradient: Float64Array): void {
    const { offsets } = this.#model
    const start = word * dimensions
    let squares = 0
    for (let i = 0; i < dimensions; i++) {
      gradient[i] = (gradient[i] as number) + offsetDecay * (offsets[start + i] as number)
      squares += (gradient[i] as number) ** 2
    }
    const total = (this.#offsetSquares[word] as number) + squares / dimensions
    this.#offsetSquares[word] = total
    const rate = offsetRate / (Math.sqrt(total) + tiny)
    for (let i = 0; i < dimensions; i++) offsets[start + i] = (offsets[start + i] as number) - rate * (gradient[i] as number)
  }
}
