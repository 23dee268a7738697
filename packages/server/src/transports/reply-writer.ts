import type { IncomingMessage, ServerResponse } from 'node:http'
import type { UnsentReplies, UnsentReply } from './unsent-replies.ts'

/** Part of a body; strings are sent as UTF-8. */
export type Part = string | Uint8Array

/** Bytes that are handed to the socket at once: enough for the list of 1,000 tools, which takes a third longer in chunks of 64 KiB. */
export const chunkBytes = 524_288

/** Sends a reply in chunks, each when the client has accepted the one before, so that a client that stops reading is noticed. */
export class ReplyWriter {
  readonly #response: ServerResponse
  readonly #unsent: UnsentReply
  readonly #queue: Part[] = []
  /** Position in the first part of the queue. */
  #offset = 0
  #isBlocked = false
  #isEnding = false

  constructor(replies: UnsentReplies, request: IncomingMessage, response: ServerResponse) {
    this.#response = response
    this.#unsent = replies.track(request, response)
    response.on('drain', () => {
      this.#isBlocked = false
      this.#send()
    })
    response.on('close', () => {
      this.#queue.length = 0
    })
  }

  /** Bytes that the client has not accepted. */
  get unsentBytes(): number {
    return this.#unsent.bytes
  }

  write(part: Part): void {
    this.#queue.push(part)
    this.#unsent.add(Buffer.byteLength(part))
    this.#send()
  }

  /** Ends the response after everything that was written. */
  end(): void {
    this.#isEnding = true
    this.#send()
  }

  #send(): void {
    while (!this.#isBlocked && !this.#response.destroyed) {
      const chunk = this.#nextChunk()
      if (chunk === undefined) break
      const size = Buffer.byteLength(chunk)
      const isWritable = this.#response.write(chunk, (error) => {
        if (error === null || error === undefined) this.#unsent.accept(size)
      })
      this.#isBlocked = !isWritable
    }
    if (this.#isEnding && this.#queue.length === 0 && !this.#response.writableEnded) this.#response.end()
  }

  #nextChunk(): Part | undefined {
    const part = this.#queue[0]
    if (part === undefined) return undefined
    const start = this.#offset
    const end = typeof part === 'string' ? characterEnd(part, start + chunkBytes) : start + chunkBytes
    if (end < part.length) this.#offset = end
    else {
      this.#offset = 0
      this.#queue.shift()
    }
    if (start === 0 && end >= part.length) return part
    return typeof part === 'string' ? part.slice(start, end) : part.subarray(start, end)
  }
}

/** Moves the end of a chunk after a surrogate pair: encoded separately, its halves would be replaced. */
function characterEnd(text: string, end: number): number {
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end
}
