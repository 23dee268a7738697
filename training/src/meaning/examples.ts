import { type SearchDocument, type WeightedWords, wordsOfQuery, wordsOfTool } from '@unfold-mcp/core'
import type { Text } from './model.ts'
import type { TrainingTool } from './pairs.ts'
import type { WordVectors } from './vectors.ts'

/** A request with the number of its tool. */
export interface Example {
  readonly request: Text
  readonly tool: number
}

/** A tool in several forms, because servers leave out what ours define, and numbers of easily confused tools. */
interface ToolForms {
  readonly forms: readonly Text[]
  readonly near: readonly number[]
}

export interface TrainingSet {
  readonly examples: readonly Example[]
  readonly tools: readonly ToolForms[]
}

/** Converts tools and requests to word numbers. Requests without a known word are left out. */
export function trainingSet(pairs: readonly TrainingTool[], vectors: WordVectors): TrainingSet {
  const numberOf = numbersOf(vectors)
  const isKnown = (word: string): boolean => numberOf.has(word)
  const textOf = (words: WeightedWords): Text => ({
    words: Uint32Array.from(words.keys(), (word) => numberOf.get(word) ?? 0),
    weights: Float64Array.from(words.values()),
  })
  const numbers = new Map(pairs.map(({ document }, index) => [document.id, index]))
  const examples = pairs.flatMap(({ document, requests }, tool) =>
    // A description is also a request for its tool.
    [...requests, document.description ?? ''].map((request) => ({ request: textOf(wordsOfQuery(request, isKnown).words), tool })),
  )
  return {
    examples: examples.filter(({ request }) => request.words.length > 0),
    tools: pairs.map(({ document, near }) => ({
      forms: formsOf(document).map((form) => textOf(wordsOfTool(form, isKnown))),
      near: near.flatMap((id) => numbers.get(id) ?? []),
    })),
  }
}

/** Times that a word must occur in the pairs to be in the table although it is not a frequent one. */
const minOccurrences = 3

/** Words of the pairs that are worth a row: product names and terms of computing, which are rare in other texts. */
export function commonWords(pairs: readonly TrainingTool[]): ReadonlySet<string> {
  const counts = new Map<string, number>()
  for (const { document, requests } of pairs) {
    const { name, description, parameters = [] } = document
    const tool = [name, description, ...parameters.map((parameter) => parameter.name)].join(' ')
    for (const text of [...requests, tool.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')]) {
      for (const word of wordsOfQuery(text, isWord).words.keys()) counts.set(word, (counts.get(word) ?? 0) + 1)
    }
  }
  return new Set([...counts].filter(([, count]) => count >= minOccurrences).map(([word]) => word))
}

const isWord = (word: string): boolean => /^[a-z]{2,}$/u.test(word)

/** Number of requests and tools that contain a word, by the number of the word. */
export function wordCounts(pairs: readonly TrainingTool[], vectors: WordVectors): ReadonlyMap<number, number> {
  const numberOf = numbersOf(vectors)
  const isKnown = (word: string): boolean => numberOf.has(word)
  const counts = new Map<number, number>()
  const count = (words: Iterable<string>): void => {
    for (const word of words) {
      const number = numberOf.get(word) ?? 0
      counts.set(number, (counts.get(number) ?? 0) + 1)
    }
  }
  for (const { document, requests } of pairs) {
    count(wordsOfTool(document, isKnown).keys())
    for (const request of requests) count(wordsOfQuery(request, isKnown).words.keys())
  }
  return counts
}

const numbersOf = ({ words }: WordVectors): ReadonlyMap<string, number> => new Map(words.map((word, index) => [word, index]))

function formsOf(document: SearchDocument): readonly SearchDocument[] {
  const { server: _server, ...withoutServer } = document
  const { description: _description, ...withoutDescription } = document
  const { id, source, name } = document
  return [document, withoutServer, withoutDescription, { id, source, name }]
}
