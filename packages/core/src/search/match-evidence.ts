import type { ClauseEvidence, Evidence, FirstEvidence } from './confidence.ts'
import { fields, ownFields } from './fields.ts'
import { isGeneralVerb } from './language/actions.ts'
import type { Lookup } from './lookup.ts'
import { type Holders, valueFor } from './scoring/holders.ts'
import { matchWeights, type Via } from './scoring/ranking.ts'
import { maxImpact } from './scoring/scoreboard.ts'
import { type Candidate, comparableShare } from './scoring/selection.ts'
import type { ExplainedWord } from './search-result.ts'
import type { Postings } from './storage/postings.ts'
import { type DocumentSources, noSource } from './storage/sources.ts'
import type { Vocabulary } from './storage/vocabulary.ts'

/** A word of the query in a document: its best matching term. */
export interface Found {
  readonly lookup: Lookup
  readonly term: number
  readonly via: Via
  readonly worth: number
  /** A bit for each field. */
  readonly mask: number
}

/** The parts of an index that evidence comes from. */
export interface IndexParts {
  readonly vocabulary: Vocabulary
  readonly postings: Postings
  readonly sources: DocumentSources
  /** Term numbers by document. */
  readonly terms: readonly Uint32Array[]
}

/** A request of more words has some that do not matter. */
const maxShort = 6

/** Number of other sources whose best match is examined. */
const maxOthers = 5

/** Reads from the index why a document matches. */
export class MatchEvidence {
  readonly #index: IndexParts
  /** Terms of names by document. */
  readonly #names: (readonly number[] | undefined)[] = []

  constructor(index: IndexParts) {
    this.#index = index
  }

  /** Returns the best term of each word in a document. */
  found(slot: number, lookups: readonly Lookup[]): readonly Found[] {
    const found: Found[] = []
    for (const lookup of lookups) {
      const best = this.#best(slot, lookup)
      if (best !== undefined) found.push(best)
    }
    return found
  }

  #best(slot: number, lookup: Lookup): Found | undefined {
    const { postings, sources } = this.#index
    const source = sources.numbers[slot] as number
    let best: Found | undefined
    for (const { term, via, weight } of lookup.matches) {
      const payload = postings.payload(term, slot)
      if (payload === undefined) continue
      const { floor, slope, ceiling } = matchWeights[via]
      const worth = valueFor(weight, source) * Math.min(ceiling, floor + (slope * (payload >>> 16)) / maxImpact)
      if (best === undefined || worth > best.worth) best = { lookup, term, via, worth, mask: payload & 0xffff }
    }
    return best
  }

  explain(slot: number, clauses: readonly (readonly Lookup[])[]): readonly ExplainedWord[] {
    const source = this.#index.sources.numbers[slot] as number
    const most = clauses.reduce((sum, clause) => sum + maxWeight(clause, source), 0) || 1
    return clauses.flatMap((lookups) =>
      this.found(slot, lookups).map(({ lookup, term, via, worth, mask }) => ({
        word: lookup.queryTerm.word,
        term: this.#index.vocabulary.termOf(term),
        via,
        fields: fields.filter((_, index) => (mask & (1 << index)) !== 0).map(({ name }) => name),
        worth: worth / most,
      })),
    )
  }

  /** Returns the evidence for the best match of each clause, and for comparable matches of other sources. */
  ofClauses(
    candidates: readonly Candidate[],
    clauses: readonly (readonly Lookup[])[],
    holders: Holders,
  ): readonly ClauseEvidence[] {
    return clauses.map((lookups, clause) => {
      const weight = maxWeight(lookups)
      const [best, ...others] = bestOfSources(candidates, clause)
      if (best === undefined || weight === 0) return { weight, best: noEvidence }
      return {
        weight,
        best: this.#of(best, lookups, holders),
        others: others.map((other) => this.#of(other, lookups, holders)),
      }
    })
  }

  /** Returns the evidence for the first of these matches, and for those of other sources, from the whole query. */
  ofMatches(matches: readonly Candidate[], lookups: readonly Lookup[], holders: Holders): FirstEvidence {
    const [first, ...others] = matches
    const words = lookups.filter(({ queryTerm }) => queryTerm.kind === 'word')
    const known = words.filter(isKnown)
    if (first === undefined) return { weight: 0, best: noEvidence, words: 0, lacksRarest: false, lacksKnown: false }
    return {
      weight: 1,
      best: this.#of(first, lookups, holders),
      others: others.filter(({ source }) => source !== first.source).map((other) => this.#of(other, lookups, holders)),
      words: known.length,
      lacksRarest: words.length <= maxShort && !this.#hasRarest(first.slot, words),
      lacksKnown: known.length > 0 && known.length <= maxShort && !this.#hasRarest(first.slot, known),
    }
  }

  /** True if the document has the rarest of these words. */
  #hasRarest(slot: number, words: readonly Lookup[]): boolean {
    const rarest = words.reduce<Lookup | undefined>(
      (a, b) => (a === undefined || b.most.common > a.most.common ? b : a),
      undefined,
    )
    return rarest !== undefined && this.found(slot, [rarest]).some(({ via }) => via !== 'synonym')
  }

  #of({ slot, source }: Candidate, lookups: readonly Lookup[], holders: Holders): Evidence {
    const words = wordsOf(lookups, source)
    if (words === 0) return noEvidence
    const literal = this.found(slot, lookups).filter(({ via }) => via !== 'synonym')
    const terms = new Set(literal.map(({ term }) => term))
    const matched = literal.map(({ lookup }) => lookup)
    const known = wordsOf(lookups.filter(isKnown), source)
    return {
      coverage: wordsOf(matched, source) / words,
      knownCoverage: known === 0 ? 0 : wordsOf(matched, source) / known,
      nameShare: this.#nameShare(slot, (term) => terms.has(term), holders),
      amount: literal.reduce((sum, { worth }) => sum + worth, 0) / holders.maxRarity,
      isSpecific: literal.some(({ mask, lookup }) => (mask & ownFields) !== 0 && !isGeneralVerb(lookup.queryTerm.term)),
    }
  }

  /** Returns a function for the share of a document name that the query asks for, synonyms included. */
  askedNameShare(lookups: readonly Lookup[], holders: Holders): (slot: number) => number {
    const asking = new Map<number, Lookup[]>()
    for (const lookup of lookups) {
      for (const { term } of lookup.matches) {
        const others = asking.get(term)
        if (others === undefined) asking.set(term, [lookup])
        else others.push(lookup)
      }
    }
    const isAsked = (slot: number, term: number): boolean =>
      asking.get(term)?.some((lookup) => lookup.matches.length === 1 || this.#best(slot, lookup)?.term === term) === true
    const shares = new Map<number, number>()
    return (slot) => {
      const share = shares.get(slot) ?? this.#nameShare(slot, (term) => isAsked(slot, term), holders)
      shares.set(slot, share)
      return share
    }
  }

  /** Returns the weighted share of the document name covered by these terms. A term that its source repeats covers less. */
  #nameShare(slot: number, isCovered: (term: number) => boolean, holders: Holders): number {
    const names = this.#nameTerms(slot)
    // Few candidates have a word of the query in their name.
    if (!names.some(isCovered)) return 0
    const source = this.#index.sources.numbers[slot] as number
    let matched = 0
    let whole = 0
    for (const term of names) {
      const holding = holders.of(term)
      whole += holders.commonRarity(holding)
      if (isCovered(term)) matched += holders.rarityFor(holding, source)
    }
    return whole === 0 ? 0 : matched / whole
  }

  /** Forgets what is cached of a document. */
  forget(slot: number): void {
    this.#names[slot] = undefined
  }

  /** Returns the terms of the document name. Parts of a joined name are not counted twice. */
  #nameTerms(slot: number): readonly number[] {
    const known = this.#names[slot]
    if (known !== undefined) return known
    const { terms, postings, vocabulary } = this.#index
    const inName = [...(terms[slot] ?? [])].filter((term) => ((postings.payload(term, slot) ?? 0) & 1) === 1)
    const texts = inName.map((term) => vocabulary.termOf(term))
    const names = inName.filter((_, index) => !texts.some((text) => text !== texts[index] && texts[index]?.startsWith(text)))
    this.#names[slot] = names
    return names
  }
}

/** True for a word that a tool has. */
const isKnown = ({ matches }: Lookup): boolean => matches.some(({ via }) => via !== 'synonym')

const noEvidence: Evidence = { coverage: 0, knownCoverage: 0, nameShare: 0, amount: 0, isSpecific: false }

/** Returns the best candidate for a clause, followed by the best of other sources that are comparable. */
function bestOfSources(candidates: readonly Candidate[], clause: number): readonly Candidate[] {
  const scoreOfClause = ({ scores }: Candidate): number => scores[clause] ?? 0
  const best = new Map<number, Candidate>()
  for (const candidate of candidates) {
    const other = best.get(candidate.source)
    const lead = other === undefined ? 1 : scoreOfClause(candidate) - scoreOfClause(other)
    if (lead > 0 || (lead === 0 && other !== undefined && candidate.id < other.id)) best.set(candidate.source, candidate)
  }
  const first = takeBest(best, scoreOfClause)
  if (first === undefined) return []
  const found = [first]
  while (found.length <= maxOthers) {
    const other = takeBest(best, scoreOfClause)
    if (other === undefined || scoreOfClause(other) < comparableShare * scoreOfClause(first)) break
    found.push(other)
  }
  return found
}

/** Removes and returns the best candidate: sorting all of them takes longer, because few are needed. */
function takeBest(candidates: Map<number, Candidate>, scoreOf: (candidate: Candidate) => number): Candidate | undefined {
  let best: Candidate | undefined
  let most = Number.NEGATIVE_INFINITY
  for (const candidate of candidates.values()) {
    const score = scoreOf(candidate)
    if (score < most || (score === most && best !== undefined && best.id < candidate.id)) continue
    best = candidate
    most = score
  }
  if (best !== undefined) candidates.delete(best.source)
  return best
}

/** Sums the maximum weight per word; a word with several terms counts once. */
function wordsOf(lookups: readonly Lookup[], source: number): number {
  const words = new Map<string, number>()
  for (const { queryTerm, most } of lookups)
    words.set(queryTerm.word, Math.max(valueFor(most, source), words.get(queryTerm.word) ?? 0))
  let sum = 0
  for (const most of words.values()) sum += most
  return sum
}

export const maxWeight = (lookups: readonly Lookup[], source = noSource): number =>
  lookups.reduce((sum, { most }) => sum + valueFor(most, source), 0)
