import type { Tool } from '@unfold-mcp/core'
import type { Principal } from '../tool/principal.ts'
import type { Embedder } from './embedder.ts'

/** How search goes beyond words, for everybody or for each principal. */
export type SearchChoice = SearchSettings | ((principal: Principal | undefined) => SearchSettings)

/** How search goes beyond words. Without any of this it goes by words, which needs nothing. */
export interface SearchSettings<P extends Principal = Principal> {
  /** Also finds tools by what they mean. Tools that a query names, and what fits it literally, stay on top. */
  readonly embedder?: Embedder
  /** How long a search waits for the embedder, and for `rank`, before it answers without: 300 ms by default. */
  readonly deadlineMs?: number
  /** Has the last word on the order. */
  readonly rank?: Rank<P>
  /** Raises what was called after similar searches of the same principal, or in the same session of somebody unknown. */
  readonly learn?: boolean
}

/** The matches in the order in which they should be shown; those left out are not shown, and none can be added. */
export type Rank<P extends Principal = Principal> = (
  query: string,
  matches: readonly Match[],
  asker: { readonly principal: P | undefined; readonly signal: AbortSignal },
) => readonly Match[] | Promise<readonly Match[]>

/** A tool that was found. */
export interface Match {
  readonly tool: Tool
  /** More is better; comparable within one answer. */
  readonly score: number
  /** The query is the name of this tool, or mentions it. */
  readonly isNamed: boolean
}
