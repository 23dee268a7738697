/** Sources of documents. */
export interface DocumentSources {
  /** Number of the source, by document. */
  readonly numbers: readonly number[]
  /** Numbers are below this. */
  readonly capacity: number
}

/** Not the number of any source. */
export const noSource = -1

/** Sources of documents with reusable numbers. */
export class Sources implements DocumentSources {
  /** Number of the source, by document. */
  readonly numbers: number[] = []
  readonly #known = new Map<string, { readonly number: number; documents: number }>()
  readonly #names: string[] = []
  readonly #vacant: number[] = []

  get count(): number {
    return this.#known.size
  }

  nameOf(number: number): string {
    return this.#names[number] ?? ''
  }

  /** Numbers are below this. */
  get capacity(): number {
    return this.#names.length
  }

  set(document: number, source: string): void {
    let known = this.#known.get(source)
    if (known === undefined) {
      known = { number: this.#vacant.pop() ?? this.#names.length, documents: 0 }
      this.#known.set(source, known)
      this.#names[known.number] = source
    }
    known.documents++
    this.numbers[document] = known.number
  }

  delete(document: number): void {
    const number = this.numbers[document] ?? noSource
    const name = this.#names[number] ?? ''
    const known = this.#known.get(name)
    this.numbers[document] = noSource
    if (known === undefined || --known.documents > 0) return
    this.#known.delete(name)
    this.#vacant.push(number)
  }
}
