import { type Confidence, SearchIndex } from '@unfold-mcp/core'
import type { Variant } from './engine.ts'
import type { RetrievalSet } from './sets.ts'

/** Shares of queries by confidence. */
export interface Confidences {
  readonly strong: number
  readonly weak: number
  readonly none: number
}

/**
 * Confidence with the needed tools present, and after removing all tools of the servers that a query needs (or the needed tools
 * themselves if a set has no servers). A strong match after that is a false positive, although not always a useless one: in a
 * pooled catalogue another server often has a similar tool.
 */
export interface LeftOut {
  readonly variant: string
  readonly set: string
  /** All queries. */
  readonly there: Confidences
  /** Queries with a needed tool among the first five. */
  readonly found: Confidences
  readonly leftOut: Confidences
}

export function leaveOut({ name, documents, queries }: RetrievalSet, { name: variant, meaning }: Variant): LeftOut {
  const index = new SearchIndex()
  for (const document of documents) index.set(document)
  const sources = new Map(documents.map(({ id, source }) => [id, source]))
  const there: Confidence[] = []
  const found: Confidence[] = []
  const leftOut: Confidence[] = []
  for (const { query, needs } of queries) {
    const needed = new Set(needs.flat())
    const gone = new Set(Array.from(needed, (id) => sources.get(id)))
    const answer = index.search(query, { limit: 5, meaning })
    there.push(answer.confidence)
    if (answer.matches.some(({ id }) => needed.has(id))) found.push(answer.confidence)
    leftOut.push(index.search(query, { limit: 5, meaning, filter: (id) => !gone.has(sources.get(id)) }).confidence)
  }
  return { variant, set: name, there: sharesOf(there), found: sharesOf(found), leftOut: sharesOf(leftOut) }
}

function sharesOf(confidences: readonly Confidence[]): Confidences {
  const share = (wanted: Confidence): number => confidences.filter((each) => each === wanted).length / confidences.length
  return { strong: share('strong'), weak: share('weak'), none: share('none') }
}
