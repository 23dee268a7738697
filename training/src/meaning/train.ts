import type { Example, TrainingSet } from './examples.ts'
import { Gradient } from './gradient.ts'
import { type Embedded, Model } from './model.ts'
import { Optimizer } from './optimizer.ts'
import { Random } from './random.ts'
import { dimensions, type WordVectors } from './vectors.ts'

export interface TrainingOptions {
  readonly seed: number
  readonly steps: number
  /** Called after every hundred steps with the mean loss. */
  readonly onProgress?: (step: number, loss: number) => void
}

const batchSize = 128
/** Tools in a batch that no request of the batch asks for. */
const otherTools = 256
/** Lower values punish near misses more. */
const temperature = 0.1

/** Learns from pairs with a contrastive loss: each request must be closer to its tool than to the other tools of the batch. */
export function train(vectors: WordVectors, { examples, tools }: TrainingSet, options: TrainingOptions): Model {
  const model = new Model(vectors)
  const optimizer = new Optimizer(model)
  const random = new Random(options.seed)
  const order = [...examples]
  let next = order.length
  let recentLoss = 0
  for (let step = 1; step <= options.steps; step++) {
    if (next + batchSize > order.length) {
      random.shuffle(order)
      next = 0
    }
    const batch = order.slice(next, next + batchSize)
    next += batchSize
    const chosen = toolsFor(batch, tools, random)
    const embedded = chosen.map((tool) => {
      const forms = tools[tool]?.forms ?? []
      return model.embed(forms[random.below(forms.length)] ?? nothing)
    })
    const places = new Map(chosen.map((tool, place) => [tool, place]))
    const requests = batch.map(({ request, tool }) => ({ embedded: model.embed(request), place: places.get(tool) ?? 0 }))
    const gradient = new Gradient(model)
    recentLoss += addBatch(gradient, requests, embedded) / 100
    optimizer.step(gradient)
    if (step % 100 !== 0) continue
    options.onProgress?.(step, recentLoss)
    recentLoss = 0
  }
  return model
}

const nothing = { words: new Uint32Array(0), weights: new Float64Array(0) }

/** Tools of the batch, tools that are easily confused with them, and others at random. */
function toolsFor(batch: readonly Example[], tools: TrainingSet['tools'], random: Random): readonly number[] {
  const chosen = new Set(batch.map(({ tool }) => tool))
  const count = Math.min(tools.length, chosen.size + otherTools)
  for (const { tool } of batch) for (const near of tools[tool]?.near ?? []) if (chosen.size < count) chosen.add(near)
  while (chosen.size < count) chosen.add(random.below(tools.length))
  return [...chosen]
}

interface Request {
  readonly embedded: Embedded
  /** Place of the right tool. */
  readonly place: number
}

/** Adds the gradient of the cross-entropy over the tools; returns the mean loss. */
function addBatch(gradient: Gradient, requests: readonly Request[], tools: readonly Embedded[]): number {
  const byTools = tools.map(() => new Float64Array(dimensions))
  let loss = 0
  for (const { embedded, place } of requests) {
    const { unit } = embedded
    const scores = tools.map((tool) => dotProduct(unit, tool.unit) / temperature)
    const highest = Math.max(...scores)
    const exponentials = scores.map((score) => Math.exp(score - highest))
    const sum = exponentials.reduce((total, each) => total + each, 0)
    loss -= Math.log((exponentials[place] ?? 0) / sum) / requests.length
    const byRequest = new Float64Array(dimensions)
    for (const [index, tool] of tools.entries()) {
      const share = (exponentials[index] ?? 0) / sum - (index === place ? 1 : 0)
      const factor = share / temperature / requests.length
      const byTool = byTools[index] as Float64Array
      for (let i = 0; i < dimensions; i++) {
        byRequest[i] = (byRequest[i] as number) + factor * (tool.unit[i] as number)
        byTool[i] = (byTool[i] as number) + factor * (unit[i] as number)
      }
    }
    gradient.add(embedded, byRequest)
  }
  for (const [index, tool] of tools.entries()) gradient.add(tool, byTools[index] as Float64Array)
  return loss
}

function dotProduct(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < dimensions; i++) sum += (a[i] as number) * (b[i] as number)
  return sum
}
