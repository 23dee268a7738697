import type { Tool } from '@unfold-mcp/core'
import type { Principal } from '../tool/principal.ts'
import type { Embedder } from './embedder.ts'

/** Search settings, for everyone or per principal. */
export type SearchChoice = SearchSettings | ((principal: Principal | undefined) => SearchSettings)

/** Extends the built-in search, which needs no settings. */
export interface SearchSettings<P extends Principal = Principal> {
  /** Finds tools by semantic similarity, instead of the built-in table. Tools that the query names, and literal matches, stay on top. */
  readonly embedder?: Embedder
  /** Confidence below which a search has no match, from 0 to 1. Lower: more answers, more of them wrong. Default: 0.42. */
  readonly minConfidence?: number
  /** Timeout for the embedder, and for `rank`; after it, the search continues without. Default: 300. */
  readonly deadlineMs?: number
  /** Determines the final order. */
  readonly rank?: Rank<P>
  /** Boosts tools that were called after similar searches by the same principal, or in the same anonymous session. */
  readonly learn?: boolean
}

/** Returns the matches in their final order. It can omit matches, but not add any. */
export type Rank<P extends Principal = Principal> = (
  query: string,
  matches: readonly Match[],
  context: { readonly principal: P | undefined; readonly signal: AbortSignal },
) => readonly Match[] | Promise<readonly Match[]>

/** A tool that matches the query. */
export interface Match {
  readonly tool: Tool
  /** Higher is better; comparable within one result. */
  readonly score: number
  /** The query contains the name of this tool. */
  readonly isNamed: boolean
}
