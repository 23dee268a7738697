const newline = 0x0a

export interface LineOptions<Bytes extends Uint8Array> {
  /** Makes the buffer of a line that arrives in pieces: the type of the chunks, such as `Buffer.allocUnsafe`. */
  readonly allocate: (size: number) => Bytes
  /** Most bytes of a line, without its line feed. Default: no limit. */
  readonly limit?: number
  /** Lines include their line feed. */
  readonly keepsEnds?: boolean
}

/** Splits a stream of bytes into lines. Nothing is kept of a line over the limit, but its bytes are still counted. */
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

  /** Returns the line that the stream ended in; `undefined` if there is none or if it is over the limit. */
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
      // Doubled each time: a peer that sends byte by byte would otherwise have everything copied for each byte.
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
