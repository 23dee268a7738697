import { type Confidence, type SearchDocument, SearchIndex } from '@unfold-mcp/core'
import type { Variant } from '../engine.ts'

/** A search over one catalogue. Variants of the search are compared by passing another one. */
export type Search = (query: string, limit: number) => Answer

export interface Answer {
  /** Best first. */
  readonly ids: readonly string[]
  readonly confidence: Confidence
  /** The number behind the confidence, if the search exposes it. */
  readonly belief?: number
}

/** Creates the search of a catalogue. */
export type SearchOver = (documents: readonly SearchDocument[]) => Search

/** Our search, in one of its variants. */
export const searchWith =
  ({ meaning }: Variant): SearchOver =>
  (documents) => {
    const index = new SearchIndex()
    for (const document of documents) index.set(document)
    return (query, limit) => {
      const { matches, confidence, certainty } = index.search(query, { limit, meaning })
      return { ids: matches.map(({ id }) => id), confidence, belief: certainty }
    }
  }
