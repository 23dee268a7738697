/** Min-heap of the best documents. */
export class TopDocuments {
  readonly documents: number[] = []
  readonly #shares: number[] = []
  readonly #count: number
  readonly #comesFirst: (a: number, b: number) => boolean

  constructor(count: number, comesFirst: (a: number, b: number) => boolean) {
    this.#count = count
    this.#comesFirst = comesFirst
  }

  /** Minimum score to enter the heap. */
  get threshold(): number {
    return this.documents.length < this.#count ? 0 : (this.#shares[0] ?? 0)
  }

  offer(document: number, shares: number): void {
    if (this.documents.length < this.#count) {
      this.documents.push(document)
      this.#shares.push(shares)
      this.#rise(this.documents.length - 1)
      return
    }
    const worst = this.#shares[0] ?? Number.POSITIVE_INFINITY
    if (shares < worst || (shares === worst && !this.#comesFirst(document, this.documents[0] ?? 0))) return
    this.documents[0] = document
    this.#shares[0] = shares
    this.#sink()
  }

  #isWorse(a: number, b: number): boolean {
    const difference = (this.#shares[a] as number) - (this.#shares[b] as number)
    return difference === 0 ? this.#comesFirst(this.documents[b] as number, this.documents[a] as number) : difference < 0
  }

  #rise(from: number): void {
    let at = from
    while (at > 0) {
      const above = (at - 1) >>> 1
      if (!this.#isWorse(at, above)) return
      this.#swap(at, above)
      at = above
    }
  }

  #sink(): void {
    let at = 0
    for (;;) {
      let next = 2 * at + 1
      if (next >= this.documents.length) return
      if (next + 1 < this.documents.length && this.#isWorse(next + 1, next)) next++
      if (!this.#isWorse(next, at)) return
      this.#swap(at, next)
      at = next
    }
  }

  #swap(a: number, b: number): void {
    const { documents } = this
    const shares = this.#shares
    ;[documents[a], documents[b]] = [documents[b] as number, documents[a] as number]
    ;[shares[a], shares[b]] = [shares[b] as number, shares[a] as number]
  }
}
