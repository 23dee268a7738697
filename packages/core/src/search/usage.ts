import { questionOf } from './query.ts'

/** What was chosen after a search, and how often of late. */
export interface UsageRecord {
  readonly terms: readonly string[]
  readonly id: string
  readonly weight: number
  readonly atMs: number
}

/** A choice counts half after this time. */
const halfLifeMs = 14 * 24 * 60 * 60 * 1_000
const mostNotes = 500
const mostTerms = 32
/** Queries that share less than this of their terms are about other things. */
const similar = 0.5
/** What much use adds to a score at most: enough to decide between neighbours, not to lift what does not match. */
const mostGain = 0.5

/** What one principal chose after searching. A value to keep and restore: `JSON.stringify` it, and hand the notes back. */
export class UsageMemory {
  #notes: UsageRecord[]

  constructor(notes: readonly UsageRecord[] = []) {
    this.#notes = notes.slice(-mostNotes)
  }

  toJSON(): readonly UsageRecord[] {
    return this.#notes
  }

  /** Remembers that `id` was chosen after `query`. */
  note(query: string, id: string, nowMs: number): void {
    const terms = termsOf(query)
    if (terms.length === 0) return
    const isSame = (note: UsageRecord): boolean => note.id === id && likeness(note.terms, terms) === 1
    const weight = this.#notes.filter(isSame).reduce((sum, note) => sum + faded(note, nowMs), 1)
    this.#notes = [...this.#notes.filter((note) => !isSame(note)), { terms, id, weight, atMs: nowMs }]
    if (this.#notes.length > mostNotes) this.#forgetOne(nowMs)
  }

  /** By what to multiply the score of a document in a search like those before: from 1 to 1.5. */
  boost(query: string, nowMs: number): (id: string) => number {
    const terms = termsOf(query)
    const uses = new Map<string, number>()
    for (const note of this.#notes) {
      const like = likeness(note.terms, terms)
      if (like >= similar) uses.set(note.id, (uses.get(note.id) ?? 0) + like * faded(note, nowMs))
    }
    return (id) => 1 + mostGain * (1 - Math.exp(-(uses.get(id) ?? 0)))
  }

  #forgetOne(nowMs: number): void {
    const weights = this.#notes.map((note) => faded(note, nowMs))
    this.#notes.splice(weights.indexOf(Math.min(...weights)), 1)
  }
}

/** A clock that was set back makes nothing younger than new. */
const faded = ({ weight, atMs }: UsageRecord, nowMs: number): number => weight * 0.5 ** (Math.max(0, nowMs - atMs) / halfLifeMs)

function termsOf(query: string): readonly string[] {
  const words = questionOf(query).clauses.flatMap((clause) =>
    clause.filter(({ kind }) => kind === 'word').map(({ term }) => term),
  )
  return [...new Set(words)].sort().slice(0, mostTerms)
}

/** The share of the terms of either that both have. */
function likeness(a: readonly string[], b: readonly string[]): number {
  const inB = new Set(b)
  const both = a.filter((term) => inB.has(term)).length
  return both === 0 ? 0 : both / (a.length + b.length - both)
}
