import { ByteLines, printable } from '@unfold-mcp/core'

const longestLine = 2_000
const mostKept = 10
const mostPerWindow = 200
const windowMs = 10_000
// What Node prints when it runs out of memory: many lines of addresses, after the one that says so.
const nativeFrame = /^\s*\d+: 0x[0-9a-f]+/u

/** What a plugin writes: the last lines are kept for reports, and lines are passed on as long as they do not flood. */
export class Output {
  readonly #onLine: (line: string) => void
  readonly #now: () => number
  readonly #last: string[] = []
  #windowFrom = Number.NEGATIVE_INFINITY
  #inWindow = 0

  constructor(onLine: (line: string) => void, now: () => number) {
    this.#onLine = onLine
    this.#now = now
  }

  /** Follows a stream of the plugin's. */
  follow(stream: NodeJS.ReadableStream): void {
    const lines = new ByteLines<Buffer>({ allocate: (size) => Buffer.allocUnsafe(size), limit: longestLine })
    stream.on('data', (chunk: Buffer) => {
      for (const line of lines.add(chunk)) this.#take(line?.toString('utf8'))
    })
    stream.on('end', () => {
      if (lines.pending > 0) this.#take(lines.rest()?.toString('utf8'))
    })
    stream.on('error', () => undefined)
  }

  /** The last lines, safe to show. */
  get last(): readonly string[] {
    return this.#last
  }

  #take(line: string | undefined): void {
    const shown = line === undefined ? '(a line that is too long)' : printable(line.replace(/\r$/u, ''), longestLine)
    if (shown === '') return
    if (!nativeFrame.test(shown)) this.#last.push(shown)
    if (this.#last.length > mostKept) this.#last.shift()
    const now = this.#now()
    if (now - this.#windowFrom >= windowMs) {
      this.#windowFrom = now
      this.#inWindow = 0
    }
    this.#inWindow++
    if (this.#inWindow <= mostPerWindow) this.#onLine(shown)
    else if (this.#inWindow === mostPerWindow + 1)
      this.#onLine(`(more than ${mostPerWindow} lines in ${windowMs / 1_000} seconds: the rest is left out)`)
  }
}
