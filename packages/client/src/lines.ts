const newline = 0x0a

/** Cuts bytes into lines. Of a line that is too long nothing is kept, and its size goes on being counted. */
export class Lines {
  readonly #limit: number
  #parts: Buffer[] = []
  #size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How long the line is that has not ended yet. */
  get pending(): number {
    return this.#size
  }

  /** The lines that end in this chunk; `undefined` stands for one that was too long. */
  *add(chunk: Buffer): Generator<string | undefined> {
    for (let start = 0; start < chunk.length; ) {
      const end = chunk.indexOf(newline, start)
      // Most lines come whole.
      if (end !== -1 && this.#size === 0) yield end - start > this.#limit ? undefined : chunk.toString('utf8', start, end)
      else {
        this.#keep(chunk.subarray(start, end === -1 ? chunk.length : end))
        if (end === -1) return
        yield this.#take()
      }
      start = end + 1
    }
  }

  /** The line that has not ended, where nothing follows any more. */
  rest(): string | undefined {
    return this.#size === 0 ? undefined : this.#take()
  }

  #keep(part: Buffer): void {
    this.#size += part.length
    if (this.#size <= this.#limit) this.#parts.push(part)
    else this.#parts = []
  }

  #take(): string | undefined {
    const line = this.#size > this.#limit ? undefined : Buffer.concat(this.#parts).toString('utf8')
    this.#parts = []
    this.#size = 0
    return line
  }
}

const firstLines = 60
const lastLines = 20
const longestLine = 2_000

/** The first and the last lines of a text that goes on and on. */
export class EndLines {
  readonly #first: string[] = []
  readonly #last: string[] = []
  readonly #buffer = new Lines(2 ** 16)
  readonly #onLine: (line: string) => void
  #count = 0

  constructor(onLine: (line: string) => void = () => undefined) {
    this.#onLine = onLine
  }

  add(chunk: Buffer): void {
    for (const line of this.#buffer.add(chunk)) this.#push(line ?? '(a line that is too long)')
  }

  /** Nothing follows any more: what has no line break after it is a line too. */
  end(): void {
    const rest = this.#buffer.rest()
    if (rest !== undefined) this.#push(rest)
  }

  /** The first lines and the last, oldest first, each once. */
  get ends(): readonly string[] {
    const between = this.#count - this.#first.length
    return between <= 0 ? this.#first : [...this.#first, ...this.#last.slice(-between)]
  }

  /** The last lines, oldest first. */
  get last(): readonly string[] {
    return this.#last
  }

  #push(line: string): void {
    const text = line.replace(/\r$/u, '')
    this.#onLine(text)
    const kept = text.slice(0, longestLine)
    this.#count++
    if (this.#first.length < firstLines) this.#first.push(kept)
    this.#last.push(kept)
    if (this.#last.length > lastLines) this.#last.shift()
  }
}
