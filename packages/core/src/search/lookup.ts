import { synonymsOf } from './language/synonyms.ts'
import type { Postings } from './postings.ts'
import type { QueryTerm } from './query.ts'
import { rarityOf, type Via } from './ranking.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Query term with its matching terms in the index. */
export interface Lookup {
  readonly queryTerm: QueryTerm
  /** Maximum contribution to a score. */
  readonly most: number
  readonly matches: readonly TermMatch[]
}

export interface TermMatch {
  readonly term: number
  readonly via: Via
  /** Inverse document frequency times the weight of the query term. */
  readonly weight: number
}

/** Visible documents: all, or those whose byte is 1. */
export interface VisibleDocuments {
  readonly total: number
  readonly visible?: Uint8Array
}

/** Scanning the vocabulary is expensive. */
const maxMisspelt = 6

/** A common synonym does not affect the order but is expensive to score. */
const commonShare = 0.05
const fewHolders = 500

/** Resolves query terms among the visible documents. */
export class TermResolver {
  readonly #vocabulary: Vocabulary
  readonly #postings: Postings
  readonly #scope: VisibleDocuments
  #misspelt = 0

  constructor(vocabulary: Vocabulary, postings: Postings, scope: VisibleDocuments) {
    this.#vocabulary = vocabulary
    this.#postings = postings
    this.#scope = scope
  }

  resolve(queryTerm: QueryTerm): Lookup {
    const literal = this.#vocabulary.numberOf(queryTerm.term)
    const holding = literal === undefined ? 0 : this.holding(literal)
    const rarity = this.rarity(holding)
    const most = queryTerm.weight * rarity
    const matches: TermMatch[] = []
    if (literal !== undefined && holding > 0) matches.push({ term: literal, via: 'literal', weight: most })
    if (queryTerm.kind === 'hint') return { queryTerm, most: holding > 0 ? most : 0, matches }
    const synonyms = synonymsOf(queryTerm.term)
    for (const synonym of synonyms) {
      const term = this.#vocabulary.numberOf(synonym)
      const others = term === undefined ? 0 : this.holding(term)
      if (term === undefined || others === 0 || (others > fewHolders && others > commonShare * this.#scope.total)) continue
      // A rare synonym must not outweigh the word itself.
      const weight = queryTerm.weight * (holding > 0 ? Math.min(rarity, this.rarity(others)) : this.rarity(others))
      matches.push({ term, via: 'synonym', weight })
    }
    return { queryTerm, most, matches: matches.length > 0 || synonyms.length > 0 ? matches : this.#misspellings(queryTerm) }
  }

  #misspellings({ word, term, weight, mayBeMisspelt }: QueryTerm): readonly TermMatch[] {
    if (!mayBeMisspelt || this.#misspelt === maxMisspelt) return []
    this.#misspelt++
    const meant = this.#vocabulary.similarTo(word, term, (number) => this.holding(number) > 0)
    return meant.map(({ number, similarity }) => ({
      term: number,
      via: 'misspelt',
      weight: weight * similarity * this.rarity(this.holding(number)),
    }))
  }

  /** Inverse document frequency among visible documents. */
  rarity(holding: number): number {
    return rarityOf(this.#scope.total, holding)
  }

  /** Number of visible documents with a term. */
  holding(term: number): number {
    const count = this.#postings.count(term)
    const { visible } = this.#scope
    if (visible === undefined) return count
    const { pool } = this.#postings
    const start = this.#postings.start(term)
    let holding = 0
    for (let i = start; i < start + 2 * count; i += 2) holding += visible[pool[i] ?? 0] ?? 0
    return holding
  }
}
