import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { trainingSet, wordCounts } from '../../training/src/meaning/examples.ts'
import { pack } from '../../training/src/meaning/pack.ts'
import { readPairs, type TrainingTool } from '../../training/src/meaning/pairs.ts'
import { Random } from '../../training/src/meaning/random.ts'
import { train } from '../../training/src/meaning/train.ts'
import { dimensions, type WordVectors } from '../../training/src/meaning/vectors.ts'

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
