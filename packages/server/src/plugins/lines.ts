/** Cuts a stream of bytes into lines of text, and keeps no more of one than `mostBytes`. */
export class Lines {
  readonly #mostBytes: number
  readonly #parts: Buffer[] = []
  #size = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** The lines that this chunk ends, in order; `undefined` in place of one that was too long. */
  *add(chunk: Buffer): Generator<string | undefined> {
    let start = 0
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      this.#keep(chunk.subarray(start, end))
      yield this.#take()
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
  }

  /** Whether the line that is coming in is too long already. */
  get isTooLong(): boolean {
    return this.#size > this.#mostBytes
  }

  /** What came after the last line. */
  rest(): string | undefined {
    return this.#take()
  }

  #keep(part: Buffer): void {
    this.#size += part.length
    if (this.isTooLong) this.#parts.length = 0
    else if (part.length > 0) this.#parts.push(part)
  }

  #take(): string | undefined {
    const line = this.isTooLong ? undefined : Buffer.concat(this.#parts).toString('utf8')
    this.#parts.length = 0
    this.#size = 0
    return line
  }
}
