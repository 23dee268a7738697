import { parseQuery } from './query.ts'

/** What was chosen after a search, and how often of late. */
export interface UsageRecord {
  readonly terms: readonly string[]
  readonly id: string
  readonly weight: number
  readonly atMs: number
}

/** A choice counts half after this time. */
const halfLifeMs = 14 * 24 * 60 * 60 * 1_000
const maxRecords = 500
const maxTerms = 32
/** Queries that share less than this of their terms are about other things. */
const similar = 0.5
/** What much use adds to a score at most: enough to decide between neighbours, not to lift what does not match. */
const maxGain = 0.5

/** What one principal chose after searching. A value to keep and restore: `JSON.stringify` it, and hand the notes back. */
export class UsageMemory {
  #records: UsageRecord[]

  constructor(records: readonly UsageRecord[] = []) {
    this.#records = records.slice(-maxRecords)
  }

  toJSON(): readonly UsageRecord[] {
    return this.#records
  }

  /** Remembers that `id` was chosen after `query`. */
  record(query: string, id: string, nowMs: number): void {
    const terms = termsOf(query)
    if (terms.length === 0) return
    const isSame = (record: UsageRecord): boolean => record.id === id && similarity(record.terms, terms) === 1
    const weight = this.#records.filter(isSame).reduce((sum, record) => sum + decayed(record, nowMs), 1)
    this.#records = [...this.#records.filter((record) => !isSame(record)), { terms, id, weight, atMs: nowMs }]
    if (this.#records.length > maxRecords) this.#evictOne(nowMs)
  }

  /** By what to multiply the score of a document in a search like those before: from 1 to 1.5. */
  boost(query: string, nowMs: number): (id: string) => number {
    const terms = termsOf(query)
    const uses = new Map<string, number>()
    for (const record of this.#records) {
      const like = similarity(record.terms, terms)
      if (like >= similar) uses.set(record.id, (uses.get(record.id) ?? 0) + like * decayed(record, nowMs))
    }
    return (id) => 1 + maxGain * (1 - Math.exp(-(uses.get(id) ?? 0)))
  }

  #evictOne(nowMs: number): void {
    const weights = this.#records.map((record) => decayed(record, nowMs))
    this.#records.splice(weights.indexOf(Math.min(...weights)), 1)
  }
}

/** A clock that was set back makes nothing younger than new. */
const decayed = ({ weight, atMs }: UsageRecord, nowMs: number): number => weight * 0.5 ** (Math.max(0, nowMs - atMs) / halfLifeMs)

function termsOf(query: string): readonly string[] {
  const words = parseQuery(query).clauses.flatMap((clause) =>
    clause.filter(({ kind }) => kind === 'word').map(({ term }) => term),
  )
  return [...new Set(words)].sort().slice(0, maxTerms)
}

/** The share of the terms of either that both have. */
function similarity(a: readonly string[], b: readonly string[]): number {
  const inB = new Set(b)
  const both = a.filter((term) => inB.has(term)).length
  return both === 0 ? 0 : both / (a.length + b.length - both)
}
