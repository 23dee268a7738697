import { ByteLines, printable } from '@unfold-mcp/core'

const maxLineLength = 2_000
const maxLastLines = 10
const maxLinesPerWindow = 200
const windowMs = 10_000
// Node prints many stack frames after its out-of-memory message; they would push the message out of the last lines.
const nativeFrame = /^\s*\d+: 0x[0-9a-f]+/u

/** Rate-limits the output of a plugin and keeps the last lines for failure reports. */
export class Output {
  readonly #onLine: (line: string) => void
  readonly #now: () => number
  readonly #last: string[] = []
  #windowStart = Number.NEGATIVE_INFINITY
  #windowLines = 0

  constructor(onLine: (line: string) => void, now: () => number) {
    this.#onLine = onLine
    this.#now = now
  }

  attach(stream: NodeJS.ReadableStream): void {
    const lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), limit: maxLineLength })
    stream.on('data', (chunk: Buffer) => {
      for (const line of lines.add(chunk)) this.#add(line?.toString('utf8'))
    })
    stream.on('end', () => {
      if (lines.pending > 0) this.#add(lines.rest()?.toString('utf8'))
    })
    stream.on('error', () => undefined)
  }

  get last(): readonly string[] {
    return this.#last
  }

  #add(line: string | undefined): void {
    const text = line === undefined ? '(line too long)' : printable(line.replace(/\r$/u, ''), maxLineLength)
    if (text === '') return
    if (!nativeFrame.test(text)) this.#last.push(text)
    if (this.#last.length > maxLastLines) this.#last.shift()
    const now = this.#now()
    if (now - this.#windowStart >= windowMs) {
      this.#windowStart = now
      this.#windowLines = 0
    }
    this.#windowLines++
    if (this.#windowLines <= maxLinesPerWindow) this.#onLine(text)
    else if (this.#windowLines === maxLinesPerWindow + 1)
      this.#onLine(`(more than ${maxLinesPerWindow} lines in ${windowMs / 1_000} seconds; further lines are dropped)`)
  }
}
