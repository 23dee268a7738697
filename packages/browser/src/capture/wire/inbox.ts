/** What is left of a message that was too large to be taken in: how it began, how it ended, how long it was. */
export interface Oversized {
  readonly head: string
  readonly tail: string
  readonly bytes: number
}

/** Where whole messages go. */
export interface Sink {
  message(bytes: Buffer): void
  oversized(message: Oversized): void
  closed(reason: string): void
}

/** A connection to a browser that carries whole messages, each a JSON text. */
export interface Channel {
  /** Where messages go from now on; none come before. */
  listen(sink: Sink): void
  send(text: string): void
  close(): void
}

const megabyte = 1024 * 1024
// A page decides how large an event is, by what it logs. What we asked for may be larger: a page's content, a picture of it.
const maxEventBytes = 8 * megabyte
const maxReplyBytes = 256 * megabyte
const kept = 256
const reply = Buffer.from('{"id":')

/** Puts messages together from parts. One that is too large is not kept while it comes in, so that it costs no memory. */
export class Inbox {
  readonly #sink: Sink
  #parts: Buffer[] = []
  #bytes = 0
  #head = ''
  #tail: Buffer | undefined

  constructor(sink: Sink) {
    this.#sink = sink
  }

  add(part: Buffer): void {
    if (part.length === 0) return
    this.#bytes += part.length
    if (this.#tail !== undefined) {
      this.#tail = lastOf(part.length >= kept ? part : Buffer.concat([this.#tail, part]))
      return
    }
    this.#parts.push(part)
    if (this.#bytes <= maxEventBytes) return
    const first = this.#parts[0] ?? part
    if (this.#bytes <= maxReplyBytes && first.subarray(0, reply.length).equals(reply)) return
    this.#head = Buffer.concat(this.#parts, kept).toString('latin1')
    this.#tail = lastOf(part)
    this.#parts = []
  }

  /** The message is complete with this last part. */
  end(last: Buffer): void {
    if (this.#bytes === 0 && last.length <= maxEventBytes) {
      if (last.length > 0) this.#sink.message(last)
      return
    }
    this.add(last)
    const [parts, tail, bytes] = [this.#parts, this.#tail, this.#bytes]
    this.#parts = []
    this.#tail = undefined
    this.#bytes = 0
    if (tail !== undefined) this.#sink.oversized({ head: this.#head, tail: tail.toString('latin1'), bytes })
    else this.#sink.message(Buffer.concat(parts))
  }
}

function lastOf(part: Buffer): Buffer {
  // A copy: the part itself is a slice of something larger.
  return Buffer.from(part.subarray(-kept))
}
