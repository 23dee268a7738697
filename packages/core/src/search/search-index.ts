import { type Confidence, certaintyOf, type MeaningSupport, rated } from './confidence.ts'
import type { SearchDocument } from './document.ts'
import { cloneMark, DocumentReader, keyMark, nameMark } from './document-reader.ts'
import { ownFields } from './fields.ts'
import type { Action } from './language/actions.ts'
import { stem } from './language/stemmer.ts'
import { type Lookup, TermResolver } from './lookup.ts'
import { MatchEvidence, maxWeight } from './match-evidence.ts'
import { DocumentVectors } from './meaning/document-vectors.ts'
import { isForeignWord } from './meaning/foreign-words.ts'
import { MeaningScores } from './meaning/fusion.ts'
import { meaningTable } from './meaning/table.ts'
import { wordsOfQuery, wordsOfTool } from './meaning/words.ts'
import { keyOf, type ParsedQuery, parseQuery } from './query.ts'
import { type AskedActions, actionFactor, actionOfTool, askedActions } from './scoring/action-ranking.ts'
import { Holders, type VisibleDocuments } from './scoring/holders.ts'
import { Holdings } from './scoring/holdings.ts'
import { scoreOf, shareOf } from './scoring/ranking.ts'
import { Scoreboard } from './scoring/scoreboard.ts'
import { type Candidate, type RankedCandidate, selectMatches } from './scoring/selection.ts'
import { TopDocuments } from './scoring/top-documents.ts'
import type { SearchOptions, SearchResult } from './search-result.ts'
import { Postings } from './storage/postings.ts'
import { noSource, Sources } from './storage/sources.ts'
import { Vocabulary } from './storage/vocabulary.ts'

const defaultLimit = 10
const maxMatches = 1_000
/** Minimum number of candidates; otherwise twice the limit. */
const maxCandidates = 60
/** Default share of the matches for one source. */
const sourceShare = 0.4
/** Number of sources among the best documents from which none of them dominates. */
const enoughSources = 10
/** Longer results have room for similar tools, and comparing them takes time. */
const maxDistinct = 50
/** Share of common terms from which two tools are nearly the same. */
const similarShare = 0.7
const maxBoost = 100
/** Bonus for a name whose words were all asked for. */
const nameBonus = 0.15
/** With fewer known words, a request is in another language, or about something that the table does not know. */
const minKnownShare = 0.5
/** Each comparison reads the vectors of all documents. */
const maxComparedClauses = 2
/** Number of first matches that decide about confidence. */
const decisive = 5

/** Factors for the score of a document. */
interface ScoreFactors {
  /** For its verb and its name: a tool whose verb agrees with the request, and whose name was asked for, comes first. */
  readonly factor: (slot: number) => number
  /** For its name alone. */
  readonly nameFactor: (slot: number) => number
}

/** Full-text index of tools. Stores no text; updating a document touches only its own terms. */
export class SearchIndex {
  readonly #vocabulary = new Vocabulary()
  readonly #postings = new Postings()
  readonly #scoreboard = new Scoreboard()
  readonly #slots = new Map<string, number>()
  readonly #ids: string[] = []
  readonly #sources = new Sources()
  /** Term numbers by slot. */
  readonly #terms: Uint32Array[] = []
  readonly #vacant: number[] = []
  readonly #reader = new DocumentReader(this.#vocabulary)
  readonly #vectors = new DocumentVectors()
  readonly #actions: (Action | undefined)[] = []
  readonly #holdings = new Holdings()
  readonly #evidence = new MatchEvidence({
    vocabulary: this.#vocabulary,
    postings: this.#postings,
    sources: this.#sources,
    terms: this.#terms,
  })

  get size(): number {
    return this.#slots.size
  }

  has(id: string): boolean {
    return this.#slots.has(id)
  }

  /** Adds or replaces a document. */
  set(document: SearchDocument): void {
    this.delete(document.id)
    const slot = this.#vacant.pop() ?? this.#ids.length
    const { terms, payloads } = this.#reader.read(document)
    this.#slots.set(document.id, slot)
    this.#ids[slot] = document.id
    this.#sources.set(slot, document.source)
    this.#holdings.forget(terms, this.#sources.count)
    this.#terms[slot] = terms
    this.#evidence.forget(slot)
    this.#actions[slot] = actionOfTool(document, this.#reader.termsOf)
    const table = meaningTable()
    this.#vectors.set(slot, table.vectorOf(wordsOfTool(document, table.has)))
    for (let i = 0; i < terms.length; i++) this.#postings.add(terms[i] as number, slot, payloads[i] as number)
  }

  /** Removes a document; returns whether it existed. */
  delete(id: string): boolean {
    const slot = this.#slots.get(id)
    if (slot === undefined) return false
    const terms = this.#terms[slot] ?? new Uint32Array(0)
    for (const term of terms) if (this.#postings.remove(term, slot) === 0) this.#vocabulary.release(term)
    this.#slots.delete(id)
    this.#ids[slot] = ''
    this.#sources.delete(slot)
    this.#holdings.forget(terms, this.#sources.count)
    this.#terms[slot] = new Uint32Array(0)
    this.#vectors.set(slot, undefined)
    this.#vacant.push(slot)
    return true
  }

  /** Finds the best documents for any query in bounded time. */
  search(query: string, options: SearchOptions = {}): SearchResult {
    const { limit = defaultLimit, filter, perSource, explain = false, boost, meaning = true, minConfidence } = options
    const count = countOf(limit)
    const parsed = parseQuery(query, this.#reader.termsOf)
    const asked = askedActions(parsed)
    const scope = this.#visibleDocuments(filter)
    const holders = new Holders(this.#postings, scope, scope.visible === undefined ? this.#holdings.all() : undefined)
    const resolver = new TermResolver(this.#vocabulary, holders)
    const clauses = parsed.clauses.map((clause) =>
      withoutCompoundParts(clause.map((queryTerm) => resolver.resolve(queryTerm)).filter(isUsed)),
    )
    const size = Math.max(maxCandidates, 2 * count)
    const nameShare = this.#evidence.askedNameShare(clauses.flat(), holders)
    const nameFactor = (slot: number): number => 1 + nameBonus * nameShare(slot)
    const factor = (slot: number): number => actionFactor(asked, this.#actions[slot]) * nameFactor(slot)
    const lexical = this.#candidates(clauses, parsed, scope, { size, factor })
    const safe = lexical.filter(({ slot }) => !this.#isUnasked(slot, asked))
    const evidence = this.#evidence.ofClauses(safe, clauses, holders)
    const meanings = meaning ? this.#meanings(query, parsed, scope, size) : []
    const words = clauses.flat()
    const byWords = certaintyOf(evidence, this.#evidence.ofMatches(bestOf(safe), words, holders))
    const near = this.#fused(lexical, meanings, rated(byWords), { factor, nameFactor })
    const candidates = boost === undefined ? near : near.map((candidate) => boosted(candidate, factorOf(boost(candidate.id))))
    const cap = perSource === undefined || Number.isNaN(perSource) ? Math.ceil(sourceShare * count) : Math.max(1, perSource)
    const selected = selectMatches(candidates, {
      count: Math.max(1, count),
      perSource: cap,
      ...(scope.sources !== undefined && {
        cloneOf: this.#cloneOf,
        isNamedSource: this.#isNamedIn(parsed),
        ...(count <= maxDistinct && { areSimilar: this.#areSimilar }),
      }),
    })
    const ranked = this.#safeFirst(selected, asked)
    const isNamed = candidates.some(({ naming }) => naming > 0)
    const top = ranked.slice(0, decisive).map(({ candidate }) => candidate)
    const support = supportOf(top, meanings)
    const certainty = isNamed
      ? 1
      : support === undefined
        ? byWords
        : certaintyOf(evidence, this.#evidence.ofMatches(top, words, holders), support)
    const most = scoreOf(clauses.reduce((sum, clause) => sum + shareOf(maxWeight(clause)), 0)) || 1
    return {
      matches: ranked.slice(0, count).map(({ candidate, score }) => ({
        id: candidate.id,
        score: Math.min(candidate.boost, score / most),
        isNamed: candidate.naming > 0,
        ...this.#clones(candidate.slot, scope),
        ...(explain && { why: { words: this.#evidence.explain(candidate.slot, clauses), boost: candidate.boost } }),
      })),
      total: scope.total,
      confidence: rated(certainty, minConfidence),
      certainty,
      unmatched: unmatchedIn(clauses),
    }
  }

  /** Term that copies of a document share. */
  readonly #cloneOf = (slot: number): number | undefined =>
    this.#terms[slot]?.findLast((term) => this.#vocabulary.termOf(term).startsWith(cloneMark))

  #clones(slot: number, { visible, sources }: VisibleDocuments): { clones?: readonly string[] } {
    const term = sources === undefined ? undefined : this.#cloneOf(slot)
    if (term === undefined || this.#postings.count(term) < 2) return {}
    const { pool } = this.#postings
    const start = this.#postings.start(term)
    const clones: string[] = []
    for (let at = start; at < start + 2 * this.#postings.count(term); at += 2) {
      const other = pool[at] as number
      if (other !== slot && (visible === undefined || visible[other] === 1)) clones.push(this.#ids[other] ?? '')
    }
    return clones.length === 0 ? {} : { clones: clones.sort() }
  }

  /** Tells which sources a query names. */
  #isNamedIn({ clauses }: ParsedQuery): (source: number) => boolean {
    const words = new Set(clauses.flat().map(({ word }) => word))
    return (source) => words.has(keyOf(this.#sources.nameOf(source)))
  }

  /** True if two documents have nearly the same words; numbers do not count. */
  areSimilar(one: string, other: string): boolean {
    const slots = [this.#slots.get(one), this.#slots.get(other)] as const
    return slots[0] !== undefined && slots[1] !== undefined && this.#areSimilar(slots[0], slots[1])
  }

  readonly #areSimilar = (one: number, other: number): boolean => {
    const a = this.#ownWords(one)
    const b = this.#ownWords(other)
    let common = 0
    for (const term of a) if (b.has(term)) common++
    return common >= similarShare * (a.size + b.size - common)
  }

  #ownWords(slot: number): ReadonlySet<number> {
    const isOwn = (term: number): boolean =>
      ((this.#postings.payload(term, slot) ?? 0) & ownFields) !== 0 && !/\d/u.test(this.#vocabulary.termOf(term))
    return new Set([...(this.#terms[slot] ?? [])].filter(isOwn))
  }

  #visibleDocuments(filter: ((id: string) => boolean) | undefined): VisibleDocuments {
    const sources = this.#sources
    const { numbers } = sources
    const all = { total: this.#slots.size, ...(sources.count > 1 && { sources }) }
    if (filter === undefined) return all
    const visible = new Uint8Array(this.#ids.length)
    let total = 0
    let first = noSource
    let isMixed = false
    for (const [id, slot] of this.#slots) {
      if (!filter(id)) continue
      visible[slot] = 1
      total++
      if (first === noSource) first = numbers[slot] as number
      else if (numbers[slot] !== first) isMixed = true
    }
    return total === all.total ? all : { total, visible, ...(isMixed && { sources }) }
  }

  /** Compares each clause with all visible documents; the whole query if it has many clauses. */
  #meanings(
    query: string,
    { texts }: ParsedQuery,
    scope: VisibleDocuments,
    count: number,
  ): readonly (MeaningScores | undefined)[] {
    if (texts.length <= maxComparedClauses) return texts.map((text) => this.#meaningScores(text, scope, count))
    const whole = this.#meaningScores(query, scope, count)
    return texts.map(() => whole)
  }

  /** Compares a text with all visible documents; undefined if its meaning is unknown. */
  #meaningScores(text: string, scope: VisibleDocuments, count: number): MeaningScores | undefined {
    const table = meaningTable()
    const { words, knownShare } = wordsOfQuery(text, table.has, isForeignWord)
    const vector = knownShare < minKnownShare ? undefined : table.vectorOf(words)
    if (vector === undefined) return undefined
    const closeness = this.#vectors.compare(vector, this.#ids.length, scope, { count, comesFirst: this.#comesFirst })
    return new MeaningScores(closeness, (slot) => this.#sources.numbers[slot] as number, scope.sources !== undefined)
  }

  /** Adds the closeness in meaning to the scores, and the documents that are close but not among the best by words. */
  #fused(
    lexical: readonly Candidate[],
    meanings: readonly (MeaningScores | undefined)[],
    confidence: Confidence,
    { factor, nameFactor }: ScoreFactors,
  ): readonly Candidate[] {
    if (meanings.every((each) => each === undefined)) return lexical
    const known = new Set(lexical.map(({ slot }) => slot))
    // Words that match well need no company.
    const close = confidence === 'strong' ? [] : meanings.flatMap((each) => each?.standingOut ?? [])
    const others = new Set(close.filter((slot) => !known.has(slot)))
    const best = meanings.map((_, clause) => Math.max(0, ...lexical.map(({ scores }) => scores[clause] ?? 0)) || 1)
    const fused = ({ slot, naming, scores }: Candidate): Candidate =>
      this.#candidate(
        slot,
        naming,
        scores.map((lexicalScore, clause) => {
          const score = { lexical: lexicalScore, best: best[clause] ?? 1, confidence, nameFactor: nameFactor(slot) }
          return meanings[clause]?.fused(slot, score) ?? lexicalScore
        }),
      )
    return [...lexical, ...Array.from(others, (slot) => this.#scored(slot, 0, meanings.length, factor))].map(fused)
  }

  /** True for a destructive tool if the request does not ask for destruction. */
  #isUnasked(slot: number, { isDestructive }: AskedActions): boolean {
    return !isDestructive && this.#actions[slot] === 'delete'
  }

  /** A destructive tool is not first unless it was asked for. */
  #safeFirst(ranked: readonly RankedCandidate[], asked: AskedActions): readonly RankedCandidate[] {
    const isSafe = ({ candidate: { slot, naming } }: RankedCandidate): boolean => naming > 0 || !this.#isUnasked(slot, asked)
    const first = ranked.findIndex(isSafe)
    return first <= 0 ? ranked : [ranked[first] as RankedCandidate, ...ranked.filter((_, index) => index !== first)]
  }

  #candidate(slot: number, naming: Candidate['naming'], scores: readonly number[]): Candidate {
    return { slot, id: this.#ids[slot] ?? '', source: this.#sources.numbers[slot] as number, naming, scores, boost: 1 }
  }

  #candidates(
    clauses: readonly (readonly Lookup[])[],
    { whole, names }: ParsedQuery,
    scope: VisibleDocuments,
    { size, factor }: { readonly size: number; readonly factor: (slot: number) => number },
  ): readonly Candidate[] {
    const board = this.#scoreboard
    board.begin(this.#ids.length, clauses.length)
    for (const [clause, lookups] of clauses.entries()) {
      for (const lookup of lookups) board.add(clause, lookup, this.#postings, scope)
    }
    const spelt = this.#holders(whole === undefined ? [] : [nameMark + whole.written], scope, size)
    const called = this.#holders(whole === undefined ? [] : [keyMark + whole.key], scope, size)
    const keys = names.map((name) => keyMark + name)
    const mentioned = this.#holders(keys, scope, size)
    const best = board.best(size, this.#comesFirst)
    return [...new Set([...spelt, ...called, ...mentioned, ...best, ...this.#ofOtherSources(best, scope, size)])].map((slot) =>
      this.#scored(slot, spelt.has(slot) ? 3 : called.has(slot) ? 2 : mentioned.has(slot) ? 1 : 0, clauses.length, factor),
    )
  }

  /** Returns a document with its score by words for each clause. */
  #scored(slot: number, naming: Candidate['naming'], clauses: number, factorOfSlot: (slot: number) => number): Candidate {
    const factor = factorOfSlot(slot)
    const scores = Array.from({ length: clauses }, (_, clause) => factor * this.#scoreboard.score(clause, slot))
    return this.#candidate(slot, naming, scores)
  }

  /** Returns the best document of each source if few sources have all the best documents: they must not hide the others. */
  #ofOtherSources(best: readonly number[], { sources }: VisibleDocuments, count: number): readonly number[] {
    if (sources === undefined || best.length < count) return []
    if (new Set(best.map((slot) => sources.numbers[slot])).size >= enoughSources) return []
    return this.#scoreboard.bestOfSources(count, sources, this.#comesFirst)
  }

  /** Returns the best visible documents with one of these names or keys; thousands may share a name. */
  #holders(marked: readonly string[], { visible }: VisibleDocuments, count: number): ReadonlySet<number> {
    const holders = new TopDocuments(count, this.#comesFirst)
    for (const each of marked) {
      const term = this.#vocabulary.numberOf(each)
      if (term === undefined) continue
      const start = this.#postings.start(term)
      const end = start + 2 * this.#postings.count(term)
      for (let i = start; i < end; i += 2) {
        const slot = this.#postings.pool[i] as number
        if (visible === undefined || visible[slot] === 1) holders.offer(slot, this.#scoreboard.shares(slot))
      }
    }
    return new Set(holders.documents)
  }

  /** Breaks ties by id, independent of insertion order. */
  readonly #comesFirst = (a: number, b: number): boolean => (this.#ids[a] ?? '') < (this.#ids[b] ?? '')
}

/** Returns the best candidate, if any. */
function bestOf(candidates: readonly Candidate[]): readonly Candidate[] {
  const sumOf = ({ scores }: Candidate): number => scores.reduce((sum, score) => sum + score, 0)
  const isBetter = (one: Candidate, other: Candidate): boolean =>
    sumOf(one) - sumOf(other) > 0 || (sumOf(one) === sumOf(other) && one.id < other.id)
  return candidates.slice(0, 1).map((first) => candidates.reduce((best, each) => (isBetter(each, best) ? each : best), first))
}

/** Returns how close the first matches are in meaning; undefined if it is unknown. */
function supportOf(top: readonly Candidate[], meanings: readonly (MeaningScores | undefined)[]): MeaningSupport | undefined {
  const known = meanings.filter((each) => each !== undefined)
  const [first] = top
  if (known.length === 0 || first === undefined) return undefined
  const meanOf = (cosineOf: (scores: MeaningScores) => number): number =>
    known.reduce((sum, each) => sum + cosineOf(each), 0) / known.length
  return {
    cosine: meanOf((each) => Math.max(...top.map(({ slot }) => each.cosine(slot)))),
    firstCosine: meanOf((each) => each.cosine(first.slot)),
  }
}

/** A hint without a match counts for nothing, not even as unmatched. */
const isUsed = ({ queryTerm, matches }: Lookup): boolean => queryTerm.kind === 'word' || matches.length > 0

function unmatchedIn(clauses: readonly (readonly Lookup[])[]): readonly string[] {
  const words = clauses.flat().filter(({ queryTerm }) => queryTerm.kind === 'word')
  const matched = new Set(words.filter(({ matches }) => matches.length > 0).map(({ queryTerm }) => queryTerm.word))
  return [...new Set(words.map(({ queryTerm }) => queryTerm.word))].filter((word) => !matched.has(word))
}

function countOf(limit: number): number {
  if (Number.isNaN(limit)) return defaultLimit
  return Math.max(0, Math.min(maxMatches, Math.floor(limit)))
}

const boosted = (candidate: Candidate, boost: number): Candidate => ({
  ...candidate,
  boost,
  scores: candidate.scores.map((score) => boost * score),
})

const factorOf = (boost: number): number => (Number.isFinite(boost) ? Math.min(maxBoost, Math.max(0, boost)) : 1)

/** "GitHub" is one word: its parts count only if no tool has the whole. */
function withoutCompoundParts(lookups: readonly Lookup[]): readonly Lookup[] {
  const terms = new Map<string, number>()
  for (const { queryTerm } of lookups) terms.set(queryTerm.word, (terms.get(queryTerm.word) ?? 0) + 1)
  if (terms.size === lookups.length) return lookups
  const isWhole = ({ queryTerm: { term, word } }: Lookup): boolean => terms.get(word) === 1 || term === stem(word)
  const known = new Set(
    lookups
      .filter((each) => isWhole(each) && each.matches.some(({ via }) => via === 'literal'))
      .map(({ queryTerm }) => queryTerm.word),
  )
  return lookups.filter((each) => isWhole(each) || each.queryTerm.kind === 'hint' || !known.has(each.queryTerm.word))
}
