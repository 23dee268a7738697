import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { indirect } from '../../bench/src/retrieval/own/indirect.ts'
import { natural } from '../../bench/src/retrieval/own/natural.ts'
import { isStopWord } from '../../packages/core/src/search/language/stopwords.ts'
import { commonWords, trainingSet, wordCounts } from '../../training/src/meaning/examples.ts'
import { pack } from '../../training/src/meaning/pack.ts'
import { readPairs, type TrainingTool } from '../../training/src/meaning/pairs.ts'
import { Random } from '../../training/src/meaning/random.ts'
import { train } from '../../training/src/meaning/train.ts'
import { dimensions, readVectors, type WordVectors } from '../../training/src/meaning/vectors.ts'

const pairs = readPairs(new URL('../../training/pairs/', import.meta.url))

const domainOf = ({ document }: TrainingTool): string => document.id.slice(0, document.id.indexOf('/'))

/** Requests are equal if they differ only in case and punctuation. */
const keyOf = (request: string): string => request.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, ' ')

describe('training pairs', () => {
  const ids = new Set(pairs.map(({ document }) => document.id))

  test('there are enough tools, domains and requests', () => {
    expect(pairs.length).toBeGreaterThanOrEqual(800)
    expect(new Set(pairs.map(domainOf)).size).toBeGreaterThanOrEqual(60)
    expect(pairs.filter(({ requests }) => requests.length < 15).map(({ document }) => document.id)).toEqual([])
    expect(pairs.flatMap(({ requests }) => requests).length).toBeGreaterThanOrEqual(12_000)
  })

  test('each tool has an id of its own, a server and a description', () => {
    expect(ids.size).toBe(pairs.length)
    const incomplete = pairs.filter(({ document: { name, server, description } }) => !name || !server || !description)
    expect(incomplete.map(({ document }) => document.id)).toEqual([])
  })

  test('near misses are other tools of the same domain', () => {
    const wrong = pairs.flatMap(({ document, near }) => near.filter((id) => id === document.id || !ids.has(id)))
    expect(wrong).toEqual([])
  })

  test('no tool has the same request twice', () => {
    const repeated = pairs.flatMap(({ document, requests }) => {
      const keys = requests.map(keyOf)
      return keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `${document.id}: ${key}`)
    })
    expect(repeated).toEqual([])
  })

  test('no request has the same words as one that measures the search', () => {
    const wordsOf = (request: string): string => {
      const words = keyOf(request).split(' ')
      return [...new Set(words.filter((word) => word.length > 1 && !isStopWord(word)))].sort().join(' ')
    }
    // One word alone ("chess") is not the request.
    const measured = new Set([...natural, ...indirect].map(({ query }) => wordsOf(query)).filter((words) => words.includes(' ')))
    expect(pairs.flatMap(({ requests }) => requests.filter((request) => measured.has(wordsOf(request))))).toEqual([])
  })
})

test('words of the pairs that GloVe lacks start with zeros, rare ones with their vector', () => {
  const folder = mkdtempSync(join(tmpdir(), 'unfold-vectors-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const vectorOf = (seed: number): number[] => {
    const random = new Random(seed)
    return Array.from({ length: dimensions }, () => random.below(1_000) - 500)
  }
  // More words than the frequent ones that are read without being wanted.
  const words = Array.from({ length: 40_000 }, (_, index) => wordOf(index))
  const vectors = Object.fromEntries([...words, 'login', 'zzyzx'].map((word, index) => [word, vectorOf(index % 7)]))
  const file = join(folder, 'vectors.json')
  writeFileSync(file, JSON.stringify({ words: [...words, 'login', 'zzyzx'], vectors }))
  const read = readVectors(file, new Set(['login', 'shopify']))
  expect(read.words.slice(-2)).toEqual(['login', 'shopify'])
  const row = (word: string): Float64Array => {
    const index = read.words.indexOf(word)
    return read.rows.slice(index * dimensions, (index + 1) * dimensions)
  }
  expect(row('login').some((value) => value !== 0)).toBe(true)
  expect(row('shopify').every((value) => value === 0)).toBe(true)
  expect(read.words).not.toContain('zzyzx')
})

test('a word that occurs in three texts of the pairs is common, also inside a name', () => {
  const tool = (name: string, requests: readonly string[]): TrainingTool => ({
    document: { id: name, source: 's', name, description: 'd' },
    requests,
    near: [],
  })
  const words = commonWords([tool('openShopify', ['a shopify thing', 'shopify once more']), tool('other', ['a thing'])])
  expect([...words]).toEqual(['shopify'])
})

test('a section of a file is a tool with its requests', () => {
  const text = `# Payments

## create_refund

server: stripe
Refund a charge,
in full or in part.
params: charge, amount
near: list_refunds

- give it back
- refund order 8812
`
  const folder = mkdtempSync(join(tmpdir(), 'unfold-pairs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'payments.md'), text)
  expect(readPairs(pathToFileURL(`${folder}/`))).toEqual([
    {
      document: {
        id: 'payments/create_refund',
        source: 'stripe',
        server: 'stripe',
        name: 'create_refund',
        description: 'Refund a charge, in full or in part.',
        parameters: [{ name: 'charge' }, { name: 'amount' }],
      },
      requests: ['give it back', 'refund order 8812'],
      near: ['payments/list_refunds'],
    },
  ])
})

describe('a short training', () => {
  const some = pairs.filter((tool) => ['weather', 'payments'].includes(domainOf(tool)))
  const vectors = randomVectors(some)
  const set = trainingSet(some, vectors)
  const trained = () => train(vectors, set, { seed: 1, steps: 30 })
  const before = train(vectors, set, { seed: 1, steps: 0 })
  const after = trained()

  test('brings requests closer to their tools than to others', () => {
    const lossOf = (model: typeof after): number => {
      const tools = set.tools.map(({ forms: [form] }) => (form === undefined ? [] : [...model.embed(form).unit]))
      const losses = set.examples.map(({ request, tool }) => {
        const { unit } = model.embed(request)
        const scores = tools.map((other) => other.reduce((sum, value, i) => sum + value * (unit[i] ?? 0), 0) / 0.1)
        return Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0)) - (scores[tool] ?? 0)
      })
      return losses.reduce((sum, loss) => sum + loss, 0) / losses.length
    }
    expect(lossOf(after)).toBeLessThan(0.9 * lossOf(before))
  })

  test('has the same result each time', () => {
    const counts = wordCounts(some, vectors)
    const { words, rows } = pack(vectors, [after], counts)
    const again = pack(vectors, [trained()], counts)
    expect(again.words).toEqual(words)
    expect(again.rows.equals(rows)).toBe(true)
  })
})

/** Words of letters, all different. */
function wordOf(index: number): string {
  let word = 'qx'
  for (let rest = index; rest > 0; rest = Math.floor(rest / 26)) word += String.fromCharCode(97 + (rest % 26))
  return word
}

/** Vectors for the words of the pairs, instead of the general ones: those are too large for a test. */
function randomVectors(tools: readonly TrainingTool[]): WordVectors {
  const texts = tools.flatMap(({ document: { name, description = '' }, requests }) => [name, description, ...requests])
  const words = [
    ...new Set(
      texts
        .join(' ')
        .toLowerCase()
        .match(/[a-z]{2,}/gu),
    ),
  ]
  const random = new Random(7)
  // Unit rows: each value is plus or minus the same number.
  const rows = Float64Array.from({ length: words.length * dimensions }, () => (random.below(2) - 0.5) / Math.sqrt(dimensions / 4))
  return { words, rows }
}
