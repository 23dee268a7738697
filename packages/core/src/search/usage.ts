import { parseQuery } from './query.ts'

/** Tool chosen after a search, with a decaying weight. */
export interface UsageRecord {
  readonly terms: readonly string[]
  readonly id: string
  readonly weight: number
  readonly atMs: number
}

const halfLifeMs = 14 * 24 * 60 * 60 * 1_000
const maxRecords = 500
const maxTerms = 32
/** Minimum similarity of two queries. */
const similar = 0.5
/** Maximum boost: enough to reorder neighbours, not to promote a poor match. */
const maxGain = 0.5

/** Choices of one principal after searches. Serializable with `JSON.stringify`; pass the records to the constructor. */
export class UsageMemory {
  #records: UsageRecord[]

  constructor(records: readonly UsageRecord[] = []) {
    this.#records = records.slice(-maxRecords)
  }

  toJSON(): readonly UsageRecord[] {
    return this.#records
  }

  /** Records that `id` was chosen after `query`. */
  record(query: string, id: string, nowMs: number): void {
    const terms = termsOf(query)
    if (terms.length === 0) return
    const isSame = (record: UsageRecord): boolean => record.id === id && similarity(record.terms, terms) === 1
    const weight = this.#records.filter(isSame).reduce((sum, record) => sum + decayed(record, nowMs), 1)
    this.#records = [...this.#records.filter((record) => !isSame(record)), { terms, id, weight, atMs: nowMs }]
    if (this.#records.length > maxRecords) this.#evictOne(nowMs)
  }

  /** Returns the boost per document for a similar query: from 1 to 1.5. */
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

// `Math.max`: the clock may have been set back.
const decayed = ({ weight, atMs }: UsageRecord, nowMs: number): number => weight * 0.5 ** (Math.max(0, nowMs - atMs) / halfLifeMs)

function termsOf(query: string): readonly string[] {
  const words = parseQuery(query).clauses.flatMap((clause) =>
    clause.filter(({ kind }) => kind === 'word').map(({ term }) => term),
  )
  return [...new Set(words)].sort().slice(0, maxTerms)
}

/** Jaccard similarity. */
function similarity(a: readonly string[], b: readonly string[]): number {
  const inB = new Set(b)
  const both = a.filter((term) => inB.has(term)).length
  return both === 0 ? 0 : both / (a.length + b.length - both)
}
