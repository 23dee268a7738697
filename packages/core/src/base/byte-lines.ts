const newline = 0x0a

export interface LineOptions<Bytes extends Uint8Array> {
  /** Allocates the buffer for a line that arrives in pieces, such as `Buffer.allocUnsafe`. */
  readonly allocate: (size: number) => Bytes
  /** Maximum bytes of a line without its line feed. Default: no limit. */
  readonly limit?: number
  /** Lines include their line feed. */
  readonly keepsEnds?: boolean
}

/** Splits a byte stream into lines. A line over the limit is counted but not kept. */
export class ByteLines<Bytes extends Uint8Array> {
  readonly #allocate: (size: number) => Bytes
  readonly #limit: number
  readonly #end: 0 | 1
  #buffer: Bytes | undefined
  #size = 0

  constructor({ allocate, limit = Number.POSITIVE_INFINITY, keepsEnds = false }: LineOptions<Bytes>) {
    this.#allocate = allocate
    this.#end = keepsEnds ? 1 : 0
    this.#limit = limit + this.#end
  }

  /** Size of the line that has not ended yet. */
  get pending(): number {
    return this.#size
  }

  /** Yields the lines that end in this chunk; `undefined` stands for one over the limit. */
  *add(chunk: Bytes): Generator<Bytes | undefined> {
    for (let start = 0; start < chunk.length; ) {
      const end = chunk.indexOf(newline, start)
      if (end === -1) {
        this.#keep(chunk.subarray(start))
        return
      }
      const part = chunk.subarray(start, end + this.#end) as Bytes
      start = end + 1
      // Most lines arrive whole and need no copy.
      if (this.#size === 0) yield part.length > this.#limit ? undefined : part
      else {
        this.#keep(part)
        yield this.#take()
      }
    }
  }

  /** Returns the unterminated last line; `undefined` if there is none or it is over the limit. */
  rest(): Bytes | undefined {
    return this.#size === 0 ? undefined : this.#take()
  }

  #keep(part: Uint8Array): void {
    const start = this.#size
    this.#size += part.length
    if (this.#size > this.#limit) {
      this.#buffer = undefined
      return
    }
    if (this.#buffer === undefined || this.#size > this.#buffer.length) {
      // Doubled each time, so that a peer that sends single bytes does not cause a copy for each.
      const larger = this.#allocate(Math.max(this.#size, 2 * (this.#buffer?.length ?? 0)))
      if (this.#buffer !== undefined) larger.set(this.#buffer.subarray(0, start))
      this.#buffer = larger
    }
    this.#buffer.set(part, start)
  }

  #take(): Bytes | undefined {
    const line = this.#size > this.#limit ? undefined : (this.#buffer?.subarray(0, this.#size) as Bytes | undefined)
    this.#buffer = undefined
    this.#size = 0
    return line
  }
}
