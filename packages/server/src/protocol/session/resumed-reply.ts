import type { RequestId } from '@modelcontextprotocol/server'
import type { SessionEvent } from '../../stores/session-store.ts'
import { eventOf, SseStream } from '../../wire/sse.ts'
import { lostResponse } from './lost-response.ts'
import { eventId, type ReplyPosition } from './reply-position.ts'

export interface ResumedReplyOptions {
  readonly position: ReplyPosition
  /** Stored events after `index`, without gaps. Rejects while the store cannot be reached. */
  readonly kept: (index: number) => Promise<readonly string[]>
  /** False if the replica that runs the requests is known to have stopped. */
  readonly isWriterAlive: () => boolean
  readonly onEnd: () => void
}

// Events about new messages can be lost.
const checkMs = 2_000
// After Redis was down, the reports of other replicas are outdated for a moment.
const checksUntilLost = 3

/** A reply whose connection broke: sends what the client has missed, and then follows the replica that runs the requests. */
export class ResumedReply {
  readonly #options: ResumedReplyOptions
  readonly #stream: SseStream
  readonly #missing: Set<RequestId>
  #index: number
  #timer: ReturnType<typeof setInterval> | undefined
  #reading: Promise<boolean> | undefined
  #isOutdated = false
  #checksWithoutWriter = 0

  constructor(options: ResumedReplyOptions) {
    this.#options = options
    const { stream, ids, index } = options.position
    this.#missing = new Set(ids)
    this.#index = index
    this.#stream = new SseStream({ id: stream, onDisconnect: () => this.#ended() })
  }

  open(): ReadableStream<Uint8Array> {
    const body = this.#stream.open()
    this.#timer = setInterval(() => void this.#check(), checkMs)
    if (typeof this.#timer === 'object') this.#timer.unref()
    void this.#read()
    return body
  }

  onEvent({ message, isOver }: Extract<SessionEvent, { kind: 'streamed' }>): void {
    if (message !== undefined) this.#stream.writeRaw(eventOf(message))
    else if (isOver === true) void this.#finish()
    else void this.#read()
  }

  close(): void {
    this.#stream.close()
  }

  async #check(): Promise<void> {
    const isAlive = this.#options.isWriterAlive()
    if (!(await this.#read())) return
    this.#checksWithoutWriter = isAlive ? 0 : this.#checksWithoutWriter + 1
    if (this.#checksWithoutWriter >= checksUntilLost) await this.#finish()
  }

  /** Sends what is stored; false if that cannot be read. One at a time, so that nothing is sent twice. */
  #read(): Promise<boolean> {
    this.#isOutdated = true
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readAll(): Promise<boolean> {
    while (this.#isOutdated && this.#stream.isOpen) {
      this.#isOutdated = false
      const kept = await this.#options.kept(this.#index).catch(() => undefined)
      if (kept === undefined) return false
      for (const json of kept) this.#send(json)
    }
    return true
  }

  #send(json: string): void {
    this.#index++
    this.#stream.writeRaw(eventOf(json, eventId(this.#stream.id, this.#index)))
    const { id, method } = JSON.parse(json) as { readonly id?: RequestId; readonly method?: string }
    if (method === undefined && id !== undefined) this.#missing.delete(id)
    if (this.#missing.size === 0) this.#stream.close()
  }

  /** No more events follow: what is not stored is lost. */
  async #finish(): Promise<void> {
    if (!(await this.#read())) return
    const problem =
      'The connection broke, and the response to this request is lost: the replica that ran it has stopped, or the response is no longer stored. The request may have had an effect: check before you send it again.'
    for (const id of this.#missing) this.#stream.writeRaw(eventOf(lostResponse(id, problem)))
    this.#stream.close()
  }

  #ended(): void {
    clearInterval(this.#timer)
    this.#options.onEnd()
  }
}
