import { synonymsOf } from './language/synonyms.ts'
import type { QueryTerm } from './query.ts'
import { type BySource, type Holders, lowerBySource, mapBySource } from './scoring/holders.ts'
import type { Via } from './scoring/ranking.ts'
import type { Vocabulary } from './storage/vocabulary.ts'

/** Query term with its matching terms in the index. */
export interface Lookup {
  readonly queryTerm: QueryTerm
  /** Maximum contribution to a score. */
  readonly most: BySource
  readonly matches: readonly TermMatch[]
}

export interface TermMatch {
  readonly term: number
  readonly via: Via
  /** Inverse document frequency times the weight of the query term. */
  readonly weight: BySource
}

/** Scanning the vocabulary is expensive. */
const maxMisspelt = 6

/** A common synonym does not affect the order but is expensive to score. */
const commonShare = 0.05
const fewHolders = 500

const nothing: BySource = { common: 0 }

/** Resolves query terms among the visible documents. */
export class TermResolver {
  readonly #vocabulary: Vocabulary
  readonly #holders: Holders
  #misspelt = 0

  constructor(vocabulary: Vocabulary, holders: Holders) {
    this.#vocabulary = vocabulary
    this.#holders = holders
  }

  resolve(queryTerm: QueryTerm): Lookup {
    const literal = this.#vocabulary.numberOf(queryTerm.term)
    const holding = literal === undefined ? nothing : this.#holders.of(literal)
    const isHeld = holding.common > 0
    const rarity = this.#holders.rarity(holding)
    const most = scaled(rarity, queryTerm.weight)
    const matches: TermMatch[] = []
    if (literal !== undefined && isHeld) matches.push({ term: literal, via: 'literal', weight: most })
    if (queryTerm.kind === 'hint') return { queryTerm, most: isHeld ? most : nothing, matches }
    const synonyms = synonymsOf(queryTerm.term)
    for (const synonym of synonyms) {
      const term = this.#vocabulary.numberOf(synonym)
      const others = term === undefined ? nothing : this.#holders.of(term)
      if (term === undefined || others.common === 0) continue
      if (others.common > fewHolders && others.common > commonShare * this.#holders.total) continue
      // A rare synonym must not outweigh the word itself.
      const own = this.#holders.rarity(others)
      matches.push({ term, via: 'synonym', weight: scaled(isHeld ? lowerBySource(rarity, own) : own, queryTerm.weight) })
    }
    return { queryTerm, most, matches: matches.length > 0 || synonyms.length > 0 ? matches : this.#misspellings(queryTerm) }
  }

  #misspellings({ word, term, weight, mayBeMisspelt }: QueryTerm): readonly TermMatch[] {
    if (!mayBeMisspelt || this.#misspelt === maxMisspelt) return []
    this.#misspelt++
    const meant = this.#vocabulary.similarTo(word, term, (number) => this.#holders.of(number).common > 0)
    return meant.map(({ number, similarity }) => ({
      term: number,
      via: 'misspelt',
      weight: scaled(this.#holders.rarity(this.#holders.of(number)), weight * similarity),
    }))
  }
}

const scaled = (values: BySource, factor: number): BySource => mapBySource(values, (value) => value * factor)
