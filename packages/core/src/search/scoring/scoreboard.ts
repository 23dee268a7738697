import type { Lookup, TermMatch } from '../lookup.ts'
import type { Postings } from '../storage/postings.ts'
import type { DocumentSources } from '../storage/sources.ts'
import type { BySource, VisibleDocuments } from './holders.ts'
import { matchWeights, shareOf } from './ranking.ts'
import { TopDocuments } from './top-documents.ts'

/** Payload: impact in the upper 16 bits, field mask in the lower 16. */
export const maxImpact = 0xffff

/** Sums scores per document and clause. Reused between searches to avoid allocations. */
export class Scoreboard {
  #capacity = 0
  #clauses = 0
  /** By document, then by clause. */
  #scores = new Float32Array(0)
  #touched = new Uint32Array(0)
  #count = 0
  #isTouched = new Uint8Array(0)
  /** Contribution of the current word to a document: only its best match counts. */
  #best = new Float32Array(0)
  /** Number of that word. */
  #word = new Uint32Array(0)
  #words = 0
  /** By source; 1 except while a word is scored. */
  #factors = new Float64Array(0)

  begin(documents: number, clauses: number): void {
    this.#clear()
    if (documents > this.#capacity) {
      this.#capacity = Math.ceil(documents * 1.25)
      this.#touched = new Uint32Array(this.#capacity)
      this.#isTouched = new Uint8Array(this.#capacity)
      this.#best = new Float32Array(this.#capacity)
      this.#word = new Uint32Array(this.#capacity)
      this.#words = 0
    }
    this.#clauses = clauses
    if (this.#scores.length < clauses * this.#capacity) this.#scores = new Float32Array(clauses * this.#capacity)
  }

  /** Scores a word for all visible documents that match it. */
  add(clause: number, { matches }: Lookup, postings: Postings, scope: VisibleDocuments): void {
    this.#words++
    for (const match of matches) this.#addMatch(clause, match, postings, scope)
  }

  #addMatch(clause: number, { term, via, weight }: TermMatch, postings: Postings, { visible, sources }: VisibleDocuments): void {
    const { pool } = postings
    const start = postings.start(term)
    const end = start + 2 * postings.count(term)
    const floor = weight.common * matchWeights[via].floor
    const slope = (weight.common * matchWeights[via].slope) / maxImpact
    const ceiling = weight.common * matchWeights[via].ceiling
    const factors = this.#factorsOf(weight, sources)
    const numbers = sources?.numbers ?? []
    const clauses = this.#clauses
    const scores = this.#scores
    const best = this.#best
    const word = this.#word
    const words = this.#words
    const isTouched = this.#isTouched
    let count = this.#count
    for (let i = start; i < end; i += 2) {
      const document = pool[i] as number
      if (visible !== undefined && visible[document] === 0) continue
      const usual = Math.min(ceiling, floor + slope * ((pool[i + 1] as number) >>> 16))
      const worth = factors === undefined ? usual : usual * (factors[numbers[document] as number] as number)
      const before = word[document] === words ? (best[document] as number) : 0
      if (worth <= before) continue
      word[document] = words
      best[document] = worth
      const at = document * clauses + clause
      scores[at] = (scores[at] as number) + worth - before
      if (isTouched[document] === 1) continue
      isTouched[document] = 1
      this.#touched[count++] = document
    }
    this.#count = count
    if (factors !== undefined) for (const source of weight.exceptions?.sources ?? []) factors[source] = 1
  }

  /** Returns the factor of the common weight by source; undefined if all sources have the common weight. */
  #factorsOf({ common, exceptions }: BySource, sources: DocumentSources | undefined): Float64Array | undefined {
    if (exceptions === undefined || sources === undefined || common === 0) return undefined
    if (this.#factors.length < sources.capacity) this.#factors = new Float64Array(2 * sources.capacity).fill(1)
    const factors = this.#factors
    for (let i = 0; i < exceptions.sources.length; i++)
      factors[exceptions.sources[i] as number] = (exceptions.values[i] as number) / common
    return factors
  }

  score(clause: number, document: number): number {
    return this.#scores[document * this.#clauses + clause] ?? 0
  }

  /** Returns the `count` best documents, unsorted. `comesFirst` breaks ties. */
  best(count: number, comesFirst: (a: number, b: number) => boolean): readonly number[] {
    const heap = new TopDocuments(count, comesFirst)
    const clauses = this.#clauses
    const scores = this.#scores
    for (let i = 0; i < this.#count; i++) {
      const document = this.#touched[i] as number
      const start = document * clauses
      let sum = 0
      for (let at = start; at < start + clauses; at++) sum += scores[at] as number
      // The shares of clauses never exceed the share of their sum, and most documents are far from the top.
      if (shareOf(sum) < heap.threshold) continue
      heap.offer(document, this.shares(document))
    }
    return heap.documents
  }

  /** Returns the best document of each of the `count` best sources, unsorted. */
  bestOfSources(
    count: number,
    { numbers, capacity }: DocumentSources,
    comesFirst: (a: number, b: number) => boolean,
  ): readonly number[] {
    const best = new Int32Array(capacity).fill(-1)
    const most = new Float64Array(capacity)
    for (let i = 0; i < this.#count; i++) {
      const document = this.#touched[i] as number
      const source = numbers[document] as number
      const shares = this.shares(document)
      if (shares < (most[source] as number)) continue
      const other = best[source] as number
      if (shares === most[source] && other !== -1 && !comesFirst(document, other)) continue
      best[source] = document
      most[source] = shares
    }
    const heap = new TopDocuments(count, comesFirst)
    for (const [source, document] of best.entries()) if (document !== -1) heap.offer(document, most[source] as number)
    return heap.documents
  }

  /** Returns the summed shares of a document. */
  shares(document: number): number {
    const start = document * this.#clauses
    let shares = 0
    for (let at = start; at < start + this.#clauses; at++) shares += shareOf(this.#scores[at] as number)
    return shares
  }

  #clear(): void {
    for (let i = 0; i < this.#count; i++) {
      const document = this.#touched[i] as number
      this.#isTouched[document] = 0
      const start = document * this.#clauses
      for (let at = start; at < start + this.#clauses; at++) this.#scores[at] = 0
    }
    this.#count = 0
  }
}
