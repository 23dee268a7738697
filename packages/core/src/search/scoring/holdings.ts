import type { BySource } from './holders.ts'

/** More terms than the names of a large catalogue have. */
const maxTerms = 20_000

/** Number of documents by term among all documents of an index, from one search to the next. */
export class Holdings {
  readonly #counts = new Map<number, BySource>()
  #sources = 0

  /** Returns the known counts; a search adds to them. */
  all(): Map<number, BySource> {
    if (this.#counts.size > maxTerms) this.#counts.clear()
    return this.#counts
  }

  /** Forgets the terms of a document that was added or removed, and everything if a source was. */
  forget(terms: Uint32Array, sources: number): void {
    if (sources !== this.#sources) this.#counts.clear()
    this.#sources = sources
    if (this.#counts.size > 0) for (const term of terms) this.#counts.delete(term)
  }
}
