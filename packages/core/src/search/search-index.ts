import { type ClauseEvidence, type Confidence, confidenceOf, type Evidence } from './confidence.ts'
import type { SearchDocument } from './document.ts'
import { type FieldName, fields } from './fields.ts'
import { Holders, type VisibleDocuments, valueFor } from './holders.ts'
import { eachWord, fold, type Reading, termsOf } from './language/tokenizer.ts'
import { type Lookup, TermResolver } from './lookup.ts'
import { keyOf, maxNameLength, type ParsedQuery, parseQuery } from './query.ts'
import { matchWeights, scoreOf, shareOf, termImpact, type Via } from './ranking.ts'
import { maxImpact, Scoreboard } from './scoreboard.ts'
import { type Candidate, comparableShare, selectMatches } from './selection.ts'
import { Postings } from './storage/postings.ts'
import { noSource, Sources } from './storage/sources.ts'
import { Vocabulary } from './storage/vocabulary.ts'
import { TopDocuments } from './top-documents.ts'

export interface SearchOptions {
  /** Number of matches. Default: 10; maximum: 1,000. */
  readonly limit?: number
  /**
   * Visible documents. Hidden ones affect nothing: matches, order, total, confidence or unmatched words.
   */
  readonly filter?: (id: string) => boolean
  /** Maximum matches from one source while others have comparable ones. Default: 60 % of `limit`. */
  readonly perSource?: number
  /** Add an explanation to each match. */
  readonly explain?: boolean
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
  /** Words of the query without a match. */
  readonly unmatched: readonly string[]
}

export interface SearchMatch {
  readonly id: string
  /** From 0 to 1 (more if boosted); comparable within one result. */
  readonly score: number
  /** The query is or contains the name of this tool. */
  readonly isNamed: boolean
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

const defaultLimit = 10
const maxMatches = 1_000
/** Minimum number of candidates; otherwise twice the limit. */
const maxCandidates = 60
/** Default share of the matches for one source. */
const sourceShare = 0.6
/** Number of sources among the best documents from which none of them dominates. */
const enoughSources = 10
/** Number of other sources whose best match is examined. */
const maxOthers = 5
/** Longer results have room for similar tools, and comparing them takes time. */
const maxDistinct = 50
/** Share of common terms from which two tools are nearly the same. */
const similarShare = 0.7
/** Fields that are not the same for all tools of a server. */
const ownFields = fields.reduce(
  (mask, { name }, index) => (name === 'server' || name === 'group' || name === 'serverDescription' ? mask : mask | (1 << index)),
  0,
)
/** Prefixes of names and keys; they never occur in terms. */
const nameMark = '"'
const keyMark = '='
const maxBoost = 100
const maxTextLength = 4_000
const maxKnownWords = 50_000

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
  /** Cache of tokenized words: a catalog uses the same few thousand. */
  readonly #known: { readonly [R in Reading]: Map<string, readonly string[]> } = { name: new Map(), prose: new Map() }

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
    const { terms, payloads } = this.#read(document)
    this.#slots.set(document.id, slot)
    this.#ids[slot] = document.id
    this.#sources.set(slot, document.source)
    this.#terms[slot] = terms
    for (let i = 0; i < terms.length; i++) this.#postings.add(terms[i] as number, slot, payloads[i] as number)
  }

  /** Removes a document; returns whether it existed. */
  delete(id: string): boolean {
    const slot = this.#slots.get(id)
    if (slot === undefined) return false
    for (const term of this.#terms[slot] ?? []) if (this.#postings.remove(term, slot) === 0) this.#vocabulary.release(term)
    this.#slots.delete(id)
    this.#ids[slot] = ''
    this.#sources.delete(slot)
    this.#terms[slot] = new Uint32Array(0)
    this.#vacant.push(slot)
    return true
  }

  /** Finds the best documents for any query in bounded time. */
  search(query: string, { limit = defaultLimit, filter, perSource, explain = false, boost }: SearchOptions = {}): SearchResult {
    const count = countOf(limit)
    const parsed = parseQuery(query)
    const scope = this.#visibleDocuments(filter)
    const holders = new Holders(this.#postings, scope)
    const resolver = new TermResolver(this.#vocabulary, holders)
    const clauses = parsed.clauses.map((clause) => clause.map((queryTerm) => resolver.resolve(queryTerm)))
    const near = this.#candidates(clauses, parsed, scope, Math.max(maxCandidates, 2 * count))
    const candidates = boost === undefined ? near : near.map((candidate) => boosted(candidate, factorOf(boost(candidate.id))))
    const cap = perSource === undefined || Number.isNaN(perSource) ? Math.ceil(sourceShare * count) : Math.max(1, perSource)
    const ranked = selectMatches(candidates, {
      count: Math.max(1, count),
      perSource: cap,
      ...(scope.sources !== undefined && count <= maxDistinct && { areSimilar: this.#areSimilar }),
    })
    const most = scoreOf(clauses.reduce((sum, clause) => sum + shareOf(maxWeight(clause)), 0)) || 1
    return {
      matches: ranked.slice(0, count).map(({ candidate, score }) => ({
        id: candidate.id,
        score: score / most,
        isNamed: candidate.naming > 0,
        ...(explain && { why: { words: this.#explain(candidate.slot, clauses), boost: candidate.boost } }),
      })),
      total: scope.total,
      confidence: candidates.some(({ naming }) => naming > 0)
        ? 'strong'
        : confidenceOf(this.#evidence(candidates, clauses, holders)),
      unmatched: unmatchedIn(clauses),
    }
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
    if (filter === undefined) return { total: this.#slots.size, ...(sources.count > 1 && { sources }) }
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
    return { total, visible, ...(isMixed && { sources }) }
  }

  #candidates(
    clauses: readonly (readonly Lookup[])[],
    { whole, names }: ParsedQuery,
    scope: VisibleDocuments,
    count: number,
  ): readonly Candidate[] {
    const board = this.#scoreboard
    board.begin(this.#ids.length, clauses.length)
    for (const [clause, lookups] of clauses.entries()) {
      for (const lookup of lookups) board.add(clause, lookup, this.#postings, scope)
    }
    const spelt = this.#holders(whole === undefined ? [] : [nameMark + whole.written], scope, count)
    const called = this.#holders(whole === undefined ? [] : [keyMark + whole.key], scope, count)
    const keys = names.map((name) => keyMark + name)
    const mentioned = this.#holders(keys, scope, count)
    const best = board.best(count, this.#comesFirst)
    return [...new Set([...spelt, ...called, ...mentioned, ...best, ...this.#ofOtherSources(best, scope, count)])].map(
      (slot) => ({
        slot,
        id: this.#ids[slot] ?? '',
        source: this.#sources.numbers[slot] as number,
        naming: spelt.has(slot) ? 3 : called.has(slot) ? 2 : mentioned.has(slot) ? 1 : 0,
        scores: clauses.map((_, clause) => board.score(clause, slot)),
        boost: 1,
      }),
    )
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

  /** Returns the best term of each word in a document. */
  #found(slot: number, lookups: readonly Lookup[]): readonly Found[] {
    return lookups.flatMap((lookup) => {
      let best: Found | undefined
      for (const { term, via, weight } of lookup.matches) {
        const payload = this.#postings.payload(term, slot)
        if (payload === undefined) continue
        const { floor, slope, ceiling } = matchWeights[via]
        const worth =
          valueFor(weight, this.#sources.numbers[slot] as number) *
          Math.min(ceiling, floor + (slope * (payload >>> 16)) / maxImpact)
        if (best === undefined || worth > best.worth) best = { lookup, term, via, worth, mask: payload & 0xffff }
      }
      return best === undefined ? [] : [best]
    })
  }

  #explain(slot: number, clauses: readonly (readonly Lookup[])[]): readonly ExplainedWord[] {
    const source = this.#sources.numbers[slot] as number
    const most = clauses.reduce((sum, clause) => sum + maxWeight(clause, source), 0) || 1
    return clauses.flatMap((lookups) =>
      this.#found(slot, lookups).map(({ lookup, term, via, worth, mask }) => ({
        word: lookup.queryTerm.word,
        term: this.#vocabulary.termOf(term),
        via,
        fields: fields.filter((_, index) => (mask & (1 << index)) !== 0).map(({ name }) => name),
        worth: worth / most,
      })),
    )
  }

  /** Returns the evidence for the best match of each clause, and for comparable matches of other sources. */
  #evidence(
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
        best: this.#evidenceFor(best, lookups, holders),
        others: others.map((other) => this.#evidenceFor(other, lookups, holders)),
      }
    })
  }

  #evidenceFor({ slot, source }: Candidate, lookups: readonly Lookup[], holders: Holders): Evidence {
    const words = wordsOf(lookups, source)
    if (words === 0) return noEvidence
    const literal = this.#found(slot, lookups).filter(({ via }) => via !== 'synonym')
    const matched = literal.map(({ lookup }) => lookup)
    return {
      coverage: wordsOf(matched, source) / words,
      nameShare: this.#nameShare(slot, new Set(literal.map(({ term }) => term)), holders),
      amount: literal.reduce((sum, { worth }) => sum + worth, 0) / holders.maxRarity,
    }
  }

  /** Returns the weighted share of the document name covered by these terms. */
  #nameShare(slot: number, terms: ReadonlySet<number>, holders: Holders): number {
    const source = this.#sources.numbers[slot] as number
    const inName = [...(this.#terms[slot] ?? [])].filter((term) => ((this.#postings.payload(term, slot) ?? 0) & 1) === 1)
    const texts = inName.map((term) => this.#vocabulary.termOf(term))
    let matched = 0
    let whole = 0
    for (const [index, term] of inName.entries()) {
      // Parts of a joined name are not counted twice.
      if (texts.some((text) => text !== texts[index] && texts[index]?.startsWith(text))) continue
      const weight = valueFor(holders.rarity(holders.of(term)), source)
      whole += weight
      if (terms.has(term)) matched += weight
    }
    return whole === 0 ? 0 : matched / whole
  }

  /** Tokenizes a document: term numbers, and a payload of impact and fields for each. */
  #read(document: SearchDocument): { readonly terms: Uint32Array; readonly payloads: Uint32Array } {
    const rows = new Map<number, number>()
    let counts = new Uint16Array(64 * fields.length)
    const lengths = new Float64Array(fields.length)
    for (const [index, { reading, limit, textsOf }] of fields.entries()) {
      let length = 0
      for (const text of textsOf(document)) {
        if (text === undefined || length >= limit) continue
        eachWord(fold(text.slice(0, maxTextLength)), (word) => {
          if (length >= limit) return
          for (const term of this.#termsOf(word, reading)) {
            const number = this.#vocabulary.admit(term)
            let row = rows.get(number)
            if (row === undefined) {
              row = rows.size
              rows.set(number, row)
              if (rows.size * fields.length > counts.length) counts = doubled(counts)
            }
            const at = row * fields.length + index
            counts[at] = (counts[at] ?? 0) + 1
            length++
          }
        })
      }
      lengths[index] = length
    }
    const marks = Array.from(nameKeys(document), (marked) => this.#vocabulary.admit(marked))
    const terms = new Uint32Array(rows.size + marks.length)
    const payloads = new Uint32Array(terms.length)
    for (const [number, row] of rows) {
      terms[row] = number
      payloads[row] = payloadOf(counts, row, lengths)
    }
    terms.set(marks, rows.size)
    return { terms, payloads }
  }

  #termsOf(word: string, reading: Reading): readonly string[] {
    const known = this.#known[reading]
    const found = known.get(word)
    if (found !== undefined) return found
    const terms = termsOf(word, reading)
    if (known.size >= maxKnownWords) known.clear()
    known.set(word, terms)
    return terms
  }
}

const noEvidence: Evidence = { coverage: 0, nameShare: 0, amount: 0 }

/** Returns the best candidate for a clause, followed by the best of other sources that are comparable. */
function bestOfSources(candidates: readonly Candidate[], clause: number): readonly Candidate[] {
  const scoreOfClause = ({ scores }: Candidate): number => scores[clause] ?? 0
  const best = new Map<number, Candidate>()
  for (const candidate of candidates) {
    const other = best.get(candidate.source)
    const lead = other === undefined ? 1 : scoreOfClause(candidate) - scoreOfClause(other)
    if (lead > 0 || (lead === 0 && other !== undefined && candidate.id < other.id)) best.set(candidate.source, candidate)
  }
  const [first, ...others] = [...best.values()].sort((a, b) => scoreOfClause(b) - scoreOfClause(a) || (a.id < b.id ? -1 : 1))
  if (first === undefined) return []
  return [first, ...others.slice(0, maxOthers).filter((each) => scoreOfClause(each) >= comparableShare * scoreOfClause(first))]
}

interface Found {
  readonly lookup: Lookup
  readonly term: number
  readonly via: Via
  readonly worth: number
  /** A bit for each field. */
  readonly mask: number
}

function payloadOf(counts: Uint16Array, row: number, lengths: Float64Array): number {
  let mask = 0
  for (let i = 0; i < fields.length; i++) if ((counts[row * fields.length + i] ?? 0) > 0) mask |= 1 << i
  const impact = Math.round(termImpact(counts, row, lengths) * maxImpact)
  return ((impact << 16) | mask) >>> 0
}

function doubled(array: Uint16Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  const larger = new Uint16Array(array.length * 2)
  larger.set(array)
  return larger
}

/** Returns the name as written, and the keys of the name, with and without the server, and of the title. */
function nameKeys({ name, title = '', server = '' }: SearchDocument): ReadonlySet<string> {
  const [nameKey = '', titleKey = '', serverKey = ''] = [name, title, server].map((text) => keyOf(text.slice(0, maxNameLength)))
  const keys = [nameKey, serverKey + nameKey, titleKey].filter((key) => key !== '')
  return new Set([nameMark + name.slice(0, maxNameLength), ...keys.map((key) => keyMark + key)])
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

const maxWeight = (lookups: readonly Lookup[], source = noSource): number =>
  lookups.reduce((sum, { most }) => sum + valueFor(most, source), 0)

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
