import type { Confidence } from '../confidence.ts'
import type { Closeness } from './document-vectors.ts'

/** Share of the lexical score by lexical confidence … */
const lexicalShare: { readonly [C in Confidence]: number } = { strong: 1, weak: 0.8, none: 0.5 }
/** … and weight of the meaning: words that match well need no help. */
const meaningShare: { readonly [C in Confidence]: number } = { strong: 0.15, weak: 1.15, none: 1.4 }

/** Documents of one source that are as close as the closest one; more of them are copies that compete with other sources. */
const maxEquals = 4
const equalLead = 0.9
const floodShare = 0.7

/** Closeness of the documents to one clause, as it counts for their scores. */
export class MeaningScores {
  readonly #closeness: Closeness
  readonly #sourceOf: (document: number) => number
  readonly #flooding: ReadonlySet<number>
  /** Several clauses may share these scores. */
  readonly #leads = new Map<number, number>()

  constructor(closeness: Closeness, sourceOf: (document: number) => number, hasSources: boolean) {
    this.#closeness = closeness
    this.#sourceOf = sourceOf
    this.#flooding = hasSources ? floodingSources(closeness, sourceOf) : new Set()
  }

  /** Cosine of a document and the clause. */
  cosine(document: number): number {
    return this.#closeness.cosine(document)
  }

  /** Combines the lexical score of a document with its closeness in meaning. `best` is the highest lexical score. */
  fused(document: number, { lexical, best, confidence, nameFactor = 1 }: LexicalScore): number {
    return lexicalShare[confidence] * lexical + best * meaningShare[confidence] * this.#lead(document) * nameFactor
  }

  #lead(document: number): number {
    let lead = this.#leads.get(document)
    if (lead === undefined) {
      const whole = leadOf(this.#closeness, document)
      // The exponent prefers the few closest documents: hundreds lead by half, and some of them have a word of the query by chance.
      lead = whole * Math.sqrt(whole) * (this.#flooding.has(this.#sourceOf(document)) ? floodShare : 1)
      this.#leads.set(document, lead)
    }
    return lead
  }

  /** Documents that are close enough to be found without a matching word. */
  get standingOut(): readonly number[] {
    return this.#closeness.best.filter((document) => leadOf(this.#closeness, document) >= minLead)
  }
}

export interface LexicalScore {
  readonly lexical: number
  /** The highest lexical score of all documents. */
  readonly best: number
  readonly confidence: Confidence
  /** Factor for a name that the request asks for; the lexical score has it already. */
  readonly nameFactor?: number
}

/** Lead of a document that no word finds. */
const minLead = 0.6

/** Lead of a document over the median, from 0 to 1 for the closest one. */
function leadOf({ cosine, median, highest }: Closeness, document: number): number {
  return highest > median ? Math.max(0, (cosine(document) - median) / (highest - median)) : 0
}

/** Sources with many documents that are equally close: they would be first with any request that they copy. */
function floodingSources(closeness: Closeness, sourceOf: (document: number) => number): ReadonlySet<number> {
  const counts = new Map<number, number>()
  for (const document of closeness.best) {
    if (leadOf(closeness, document) < equalLead) continue
    const source = sourceOf(document)
    counts.set(source, (counts.get(source) ?? 0) + 1)
  }
  return new Set([...counts].filter(([, count]) => count > maxEquals).map(([source]) => source))
}
