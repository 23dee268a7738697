import { ByteLines } from '@unfold-mcp/core'

const firstLines = 60
const lastLines = 20
const longestLine = 2_000

/** The first and the last lines of a text that goes on and on. */
export class EndLines {
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

  /** Nothing follows any more: what has no line break after it is a line too. */
  end(): void {
    if (this.#buffer.pending > 0) this.#push(this.#buffer.rest())
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

  #push(line: Buffer | undefined): void {
    const text = line === undefined ? '(a line that is too long)' : line.toString('utf8').replace(/\r$/u, '')
    this.#onLine(text)
    const kept = text.slice(0, longestLine)
    this.#count++
    if (this.#first.length < firstLines) this.#first.push(kept)
    this.#last.push(kept)
    if (this.#last.length > lastLines) this.#last.shift()
  }
}
