import { parentPort, workerData } from 'node:worker_threads'
import { trainingSet } from './examples.ts'
import type { TrainingTool } from './pairs.ts'
import { train } from './train.ts'
import type { WordVectors } from './vectors.ts'

/** A training run with one seed. */
export interface SeedTask {
  readonly seed: number
  readonly steps: number
  readonly vectors: WordVectors
  readonly pairs: readonly TrainingTool[]
}

/** What a run has learned. */
export interface TrainedModel {
  readonly map: Float64Array<ArrayBuffer>
  readonly offsets: Float64Array<ArrayBuffer>
  readonly importance: Float64Array<ArrayBuffer>
}

const { seed, steps, vectors, pairs } = workerData as SeedTask
const onProgress = (step: number, loss: number): void => {
  if (step % 500 === 0) console.error(`Seed ${seed}, step ${step} of ${steps}: loss ${loss.toFixed(3)}`)
}
const { map, offsets, importance } = train(vectors, trainingSet(pairs, vectors), { seed, steps, onProgress })
parentPort?.postMessage({ map, offsets, importance } satisfies TrainedModel, [map.buffer, offsets.buffer, importance.buffer])
