import { type Clock, pause } from '../time/clock.ts'
import { type BodyChunks, bodyChunks } from './body-chunks.ts'
import type { Exchange } from './exchange.ts'

/** Outcome of an attempt to resume a stream. `failed`: another attempt may succeed. */
export type Resumed =
  | { readonly kind: 'open'; readonly body: ReadableStream<Uint8Array> }
  | { readonly kind: 'failed'; readonly retryAfterMs: number | undefined }
  | { readonly kind: 'refused'; readonly reason: string }

export interface ResponseStreamOptions {
  readonly exchange: Exchange
  readonly clock: Clock
  /** Opens the rest of the stream. `undefined`: the protocol revision does not allow it. */
  readonly resume: ((lastEventId: string) => Promise<Resumed>) | undefined
  /** Called when the response will not arrive. */
  readonly giveUp: (reason: string) => void
}

const firstDelayMs = 250
const maxDelayMs = 5_000
// A server may ask for any delay, but a timer of more than 24 days fires at once.
const maxRetryMs = 3_600_000
// With the delays above, more than eight minutes: longer than most calls may take.
const maxAttempts = 100
const retryField = /(?:^|[\r\n])retry:[ ]?(\d+)[\r\n]/gu
const retryName = Buffer.from('retry:')
const maxFieldBytes = 32
// Ends an event that was cut off so that the parser ignores it: it has no id, and a type that is not a message.
const discardEvent = Buffer.from('\nid:\nevent: incomplete\n\n')

/**
 * Response stream of a request. If it ends before the response, it is resumed after its last event: with increasing delays, not
 * before the time that the server set with `retry:`, a limited number of times, and only while the request is in progress.
 */
export class ResponseStream implements BodyChunks {
  readonly #options: ResponseStreamOptions
  #chunks: BodyChunks
  #attempts = 0
  #retryMs = 0
  #tail: Uint8Array = new Uint8Array()

  constructor(body: ReadableStream<Uint8Array>, options: ResponseStreamOptions) {
    this.#chunks = bodyChunks(body)
    this.#options = options
  }

  async next(): Promise<Uint8Array | undefined> {
    const { exchange } = this.#options
    try {
      const chunk = await this.#chunks.next()
      if (chunk !== undefined) {
        if (!exchange.isAnswered) this.#readRetry(chunk)
        return chunk
      }
    } catch (error) {
      if (!(await this.#isIncomplete())) throw error
      return this.#resume()
    }
    return (await this.#isIncomplete()) ? this.#resume() : undefined
  }

  cancel(reason?: unknown): Promise<void> {
    return this.#chunks.cancel(reason)
  }

  /** True if the stream ended before the response but can be resumed. */
  async #isIncomplete(): Promise<boolean> {
    const { exchange } = this.#options
    if (exchange.isAnswered || exchange.signal.aborted) return false
    // The last events may not have been parsed yet.
    await new Promise((resolve) => setImmediate(resolve))
    return !exchange.isAnswered && !exchange.signal.aborted && exchange.lastEventId !== undefined
  }

  /** Returns the first bytes after the interruption; `undefined` if the request has ended. */
  async #resume(): Promise<Uint8Array | undefined> {
    const { exchange, clock, resume, giveUp } = this.#options
    const { signal, lastEventId = '' } = exchange
    if (resume === undefined) {
      giveUp('the connection broke before the response')
      return undefined
    }
    let pauseMs = 0
    while (this.#attempts < maxAttempts) {
      const delayMs = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(this.#attempts, 10))
      this.#attempts++
      await pause(clock, Math.max(delayMs, this.#retryMs, pauseMs), signal)
      if (signal.aborted) return undefined
      const resumed = await resume(lastEventId)
      if (signal.aborted) {
        if (resumed.kind === 'open') await resumed.body.cancel().catch(() => undefined)
        return undefined
      }
      if (resumed.kind === 'open') {
        this.#chunks = bodyChunks(resumed.body)
        this.#tail = new Uint8Array()
        return discardEvent
      }
      if (resumed.kind === 'refused') {
        giveUp(resumed.reason)
        return undefined
      }
      pauseMs = resumed.retryAfterMs ?? 0
    }
    giveUp(`the response stream ended before the response, and ${maxAttempts} attempts to resume it did not bring it`)
    return undefined
  }

  #readRetry(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    // The field may be split between two chunks.
    const joint = this.#tail.length === 0 ? undefined : Buffer.concat([this.#tail, bytes.subarray(0, maxFieldBytes)])
    for (const text of joint === undefined ? [bytes] : [joint, bytes]) {
      if (!text.includes(retryName)) continue
      for (const [, ms] of text.toString('latin1').matchAll(retryField)) this.#retryMs = Math.min(Number(ms), maxRetryMs)
    }
    this.#tail = bytes.subarray(-maxFieldBytes)
  }
}
