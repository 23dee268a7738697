import { ByteLines } from '@unfold-mcp/core'

const maxFirstLines = 60
const maxLastLines = 20
const maxLineLength = 2_000

/** Keeps the first and last lines of an unbounded output. */
export class OutputEnds {
  readonly #first: string[] = []
  readonly #last: string[] = []
  readonly #buffer = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), limit: 2 ** 16 })
  readonly #onLine: (line: string) => void
  #count = 0

  constructor(onLine: (line: string) => void = () => undefined) {
    this.#onLine = onLine
  }

  add(chunk: Buffer): void {
    for (const line of this.#buffer.add(chunk)) this.#push(line)
  }

  /** Adds the last line if it has no line break. */
  end(): void {
    if (this.#buffer.pending > 0) this.#push(this.#buffer.rest())
  }

  /** First and last lines, oldest first, without duplicates. */
  get ends(): readonly string[] {
    const later = this.#count - this.#first.length
    return later <= 0 ? this.#first : [...this.#first, ...this.#last.slice(-later)]
  }

  /** Last lines, oldest first. */
  get last(): readonly string[] {
    return this.#last
  }

  #push(line: Buffer | undefined): void {
    const text = line === undefined ? '(line too long)' : line.toString('utf8').replace(/\r$/u, '')
    this.#onLine(text)
    const shortened = text.slice(0, maxLineLength)
    this.#count++
    if (this.#first.length < maxFirstLines) this.#first.push(shortened)
    this.#last.push(shortened)
    if (this.#last.length > maxLastLines) this.#last.shift()
  }
}
