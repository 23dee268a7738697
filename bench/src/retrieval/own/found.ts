import type { Confidence } from '@unfold-mcp/core'
import type { OwnRequest } from './request.ts'
import type { Search } from './search.ts'

/** Result of one request. */
export interface Found {
  readonly query: string
  readonly confidence: Confidence
  /** The best match, if any. */
  readonly first?: string
  /** Rank of the best acceptable tool, from 1, if it is among the first five. */
  readonly rank?: number
}

const limit = 5

export function find(requests: readonly OwnRequest[], search: Search): readonly Found[] {
  return requests.map(({ query, tools }) => {
    const { ids, confidence } = search(query, limit)
    const [first] = ids
    const index = ids.slice(0, limit).findIndex((id) => tools.includes(id))
    return { query, confidence, ...(first !== undefined && { first }), ...(index !== -1 && { rank: index + 1 }) }
  })
}

/** Counts of requests. */
export interface FoundCounts {
  readonly requests: number
  /** An acceptable tool is first. */
  readonly first: number
  /** An acceptable tool is among the first five. */
  readonly found: number
  /** … and the search does not report that it has nothing. */
  readonly answered: number
  readonly strong: number
}

export function countsOf(found: readonly Found[]): FoundCounts {
  const count = (matches: (each: Found) => boolean): number => found.filter(matches).length
  return {
    requests: found.length,
    first: count(({ rank }) => rank === 1),
    found: count(({ rank }) => rank !== undefined),
    answered: count(({ rank, confidence }) => rank !== undefined && confidence !== 'none'),
    strong: count(({ rank, confidence }) => rank !== undefined && confidence === 'strong'),
  }
}
