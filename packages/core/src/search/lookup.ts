import { synonymsOf } from './language/synonyms.ts'
import type { Postings } from './postings.ts'
import type { Asked } from './query.ts'
import { rarityOf, type Via } from './ranking.ts'
import type { Vocabulary } from './vocabulary.ts'

/** One thing to look for, and the terms that stand for it in an index. */
export interface Lookup {
  readonly asked: Asked
  /** What the word can add to a score at most. */
  readonly most: number
  readonly ways: readonly Way[]
}

export interface Way {
  readonly term: number
  readonly via: Via
  /** How telling the term is, times how much the word is asked for. */
  readonly weight: number
}

/** What a reader may know of: everything, or the documents whose byte is 1. */
export interface Sight {
  readonly total: number
  readonly visible?: Uint8Array
}

/** Looking at every word of a vocabulary is dear, and more slips than these are no slips. */
const mostMisspelt = 6

/** A synonym that many tools have orders nothing, but all of them would have to be looked at. */
const commonShare = 0.05
const fewHolders = 500

/** Finds what stands for the words of a question, as far as the reader may see. */
export class Finder {
  readonly #vocabulary: Vocabulary
  readonly #postings: Postings
  readonly #sight: Sight
  #misspelt = 0

  constructor(vocabulary: Vocabulary, postings: Postings, sight: Sight) {
    this.#vocabulary = vocabulary
    this.#postings = postings
    this.#sight = sight
  }

  lookUp(asked: Asked): Lookup {
    const literal = this.#vocabulary.numberOf(asked.term)
    const holding = literal === undefined ? 0 : this.holding(literal)
    const rarity = this.rarity(holding)
    const most = asked.weight * rarity
    const ways: Way[] = []
    if (literal !== undefined && holding > 0) ways.push({ term: literal, via: 'literal', weight: most })
    if (asked.kind === 'hint') return { asked, most: holding > 0 ? most : 0, ways }
    const synonyms = synonymsOf(asked.term)
    for (const synonym of synonyms) {
      const term = this.#vocabulary.numberOf(synonym)
      const others = term === undefined ? 0 : this.holding(term)
      if (term === undefined || others === 0 || (others > fewHolders && others > commonShare * this.#sight.total)) continue
      // A rare synonym says no more than the word itself, or it could outweigh it.
      const weight = asked.weight * (holding > 0 ? Math.min(rarity, this.rarity(others)) : this.rarity(others))
      ways.push({ term, via: 'synonym', weight })
    }
    return { asked, most, ways: ways.length > 0 || synonyms.length > 0 ? ways : this.#misspellings(asked) }
  }

  #misspellings({ word, term, weight, mayBeMisspelt }: Asked): readonly Way[] {
    if (!mayBeMisspelt || this.#misspelt === mostMisspelt) return []
    this.#misspelt++
    const meant = this.#vocabulary.alike(word, term, (number) => this.holding(number) > 0)
    return meant.map(({ number, likeness }) => ({
      term: number,
      via: 'misspelt',
      weight: weight * likeness * this.rarity(this.holding(number)),
    }))
  }

  /** How telling a term is that so many documents in sight have. */
  rarity(holding: number): number {
    return rarityOf(this.#sight.total, holding)
  }

  /** How many documents in sight hold a term. */
  holding(term: number): number {
    const count = this.#postings.count(term)
    const { visible } = this.#sight
    if (visible === undefined) return count
    const { pool } = this.#postings
    const start = this.#postings.start(term)
    let holding = 0
    for (let i = start; i < start + 2 * count; i += 2) holding += visible[pool[i] ?? 0] ?? 0
    return holding
  }
}
