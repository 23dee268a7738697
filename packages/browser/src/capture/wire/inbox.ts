/** Remainder of a message that was too large: its beginning, end and size. */
export interface Oversized {
  readonly head: string
  readonly tail: string
  readonly bytes: number
}

/** Receiver of complete messages. */
export interface Sink {
  message(bytes: Buffer): void
  oversized(message: Oversized): void
  closed(reason: string): void
}

/** Connection to a browser that carries JSON messages. */
export interface Channel {
  /** Sets the receiver; no messages arrive before. */
  listen(sink: Sink): void
  send(text: string): void
  close(): void
}

const megabyte = 1024 * 1024
// A page controls the size of events through what it logs. Replies to our commands may be larger: page content, screenshots.
const maxEventBytes = 8 * megabyte
const maxReplyBytes = 256 * megabyte
const kept = 256
const reply = Buffer.from('{"id":')

/** Assembles messages from chunks. An oversized message is not buffered. */
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

  /** Completes the message with its last chunk. */
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
  // A copy: the chunk is a slice of a larger buffer.
  return Buffer.from(part.subarray(-kept))
}
