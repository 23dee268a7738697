/**
 * Postings lists in one typed array: pairs of document and payload, sorted by document, in blocks of power-of-two sizes. Updating a
 * document touches only the blocks of its own terms.
 */
export class Postings {
  #pool = new Uint32Array(1_024)
  #used = 0
  #starts = new Uint32Array(256)
  #counts = new Uint32Array(256)
  /** The block of a term holds 2 ** (class - 1) pairs; class 0: no block. */
  #classes = new Uint8Array(256)
  /** Free blocks by class. */
  readonly #free: readonly number[][] = Array.from({ length: 33 }, () => [])

  /** Number of documents with the term. */
  count(term: number): number {
    return this.#counts[term] ?? 0
  }

  /** Offset of the pairs of a term in `pool`. */
  start(term: number): number {
    return this.#starts[term] ?? 0
  }

  /** Document, payload, document, payload … Valid until the next change. */
  get pool(): Uint32Array {
    return this.#pool
  }

  payload(term: number, document: number): number | undefined {
    const at = this.#find(term, document)
    return at < this.#end(term) && this.#pool[at] === document ? this.#pool[at + 1] : undefined
  }

  add(term: number, document: number, payload: number): void {
    this.#makeRoom(term)
    const at = this.#find(term, document)
    const end = this.#end(term)
    if (at < end) this.#pool.copyWithin(at + 2, at, end)
    this.#pool[at] = document
    this.#pool[at + 1] = payload
    this.#counts[term] = this.count(term) + 1
  }

  /** Removes a document from a term; returns how many are left. */
  remove(term: number, document: number): number {
    const at = this.#find(term, document)
    this.#pool.copyWithin(at, at + 2, this.#end(term))
    const left = this.count(term) - 1
    this.#counts[term] = left
    if (left === 0) this.#release(term)
    return left
  }

  #end(term: number): number {
    return this.start(term) + 2 * this.count(term)
  }

  /** Binary search for the position of a document. */
  #find(term: number, document: number): number {
    const start = this.start(term)
    let low = 0
    let high = this.count(term)
    // Documents mostly arrive in order, at the end.
    if (high > 0 && (this.#pool[start + 2 * (high - 1)] ?? 0) < document) return start + 2 * high
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#pool[start + 2 * middle] ?? 0) < document) low = middle + 1
      else high = middle
    }
    return start + 2 * low
  }

  #makeRoom(term: number): void {
    if (term >= this.#starts.length) this.#extend(term)
    const size = this.#classes[term] ?? 0
    const count = this.count(term)
    if (size > 0 && count < 2 ** (size - 1)) return
    const place = this.#take(size + 1)
    const start = this.start(term)
    this.#pool.copyWithin(place, start, start + 2 * count)
    if (size > 0) this.#free[size]?.push(start)
    this.#starts[term] = place
    this.#classes[term] = size + 1
  }

  #extend(term: number): void {
    const length = Math.max(term + 1, this.#starts.length * 2)
    this.#starts = enlarged(this.#starts, length)
    this.#counts = enlarged(this.#counts, length)
    const classes = new Uint8Array(length)
    classes.set(this.#classes)
    this.#classes = classes
  }

  #take(size: number): number {
    const free = this.#free[size]?.pop()
    if (free !== undefined) return free
    const place = this.#used
    this.#used += 2 ** size
    if (this.#used > this.#pool.length) this.#pool = enlarged(this.#pool, Math.ceil(this.#used * 1.5))
    return place
  }

  #release(term: number): void {
    const size = this.#classes[term] ?? 0
    this.#free[size]?.push(this.start(term))
    this.#classes[term] = 0
    this.#starts[term] = 0
  }
}

export function enlarged(array: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length)
  larger.set(array)
  return larger
}
