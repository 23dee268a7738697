import type { Confidence } from './confidence.ts'
import type { FieldName } from './fields.ts'
import type { Via } from './scoring/ranking.ts'

export interface SearchOptions {
  /** Number of matches. Default: 10; maximum: 1,000. */
  readonly limit?: number
  /**
   * Visible documents. Hidden ones affect nothing: matches, order, total, confidence or unmatched words.
   */
  readonly filter?: (id: string) => boolean
  /** Maximum matches from one source while others have comparable ones. Default: 40 % of `limit`. */
  readonly perSource?: number
  /** Confidence below which there is no match, from 0 to 1. Default: 0.42. */
  readonly minConfidence?: number
  /** Add an explanation to each match. */
  readonly explain?: boolean
  /** Also find tools by meaning, with the built-in table. Default: true. */
  readonly meaning?: boolean
  /** Factor for the score of a match; called only for candidates near the top. */
  readonly boost?: (id: string) => number
}

export interface SearchResult {
  /** Best first. */
  readonly matches: readonly SearchMatch[]
  /** Number of visible documents. */
  readonly total: number
  /** Confidence that the first matches answer the query. */
  readonly confidence: Confidence
  /** The same as a number from 0 to 1. */
  readonly certainty: number
  /** Words of the query without a match. */
  readonly unmatched: readonly string[]
}

export interface SearchMatch {
  readonly id: string
  /** From 0 to 1 (more if boosted); comparable within one result. */
  readonly score: number
  /** The query is or contains the name of this tool. */
  readonly isNamed: boolean
  /** Visible copies of this tool, with the same name and the same beginning of the description. */
  readonly clones?: readonly string[]
  readonly why?: Explanation
}

/** Explanation of a score. */
export interface Explanation {
  readonly words: readonly ExplainedWord[]
  readonly boost: number
}

export interface ExplainedWord {
  /** Word of the query. */
  readonly word: string
  /** Matching term. */
  readonly term: string
  readonly via: Via
  readonly fields: readonly FieldName[]
  /** Contribution of the word, relative to the maximum of the query. */
  readonly worth: number
}
