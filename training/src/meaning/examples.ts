import { type SearchDocument, type WeightedWords, wordsOfQuery, wordsOfTool } from '@unfold-mcp/core'
import type { Text } from './model.ts'
import type { TrainingTool } from './pairs.ts'

/** A request with the number of its tool. */
export interface Example {
  readonly request: Text
  readonly tool: number
}

/** A tool in several forms, because servers leave out what ours define, and numbers of easily confused tools. */
export interface ToolForms {
  readonly forms: readonly Text[]
  readonly near: readonly number[]
}

export interface TrainingSet {
  readonly examples: readonly Example[]
  readonly tools: readonly ToolForms[]
}

/** Converts tools and requests to word numbers. Requests without a known word are left out. */
export function trainingSet(pairs: readonly TrainingTool[], numberOf: ReadonlyMap<string, number>): TrainingSet {
  const isKnown = (word: string): boolean => numberOf.has(word)
  const textOf = (words: WeightedWords): Text => ({
    words: Uint32Array.from(words.keys(), (word) => numberOf.get(word) ?? 0),
    weights: Float64Array.from(words.values()),
  })
  const numbers = new Map(pairs.map(({ document }, index) => [document.id, index]))
  const examples = pairs.flatMap(({ document, requests }, tool) =>
    // A description is also a request for its tool.
    [...requests, document.description ?? ''].map((request) => ({ request: textOf(wordsOfQuery(request, isKnown)), tool })),
  )
  return {
    examples: examples.filter(({ request }) => request.words.length > 0),
    tools: pairs.map(({ document, near }) => ({
      forms: formsOf(document).map((form) => textOf(wordsOfTool(form, isKnown))),
      near: near.flatMap((id) => numbers.get(id) ?? []),
    })),
  }
}

function formsOf(document: SearchDocument): readonly SearchDocument[] {
  const { server: _server, ...withoutServer } = document
  const { description: _description, ...withoutDescription } = document
  const { id, source, name } = document
  return [document, withoutServer, withoutDescription, { id, source, name }]
}
