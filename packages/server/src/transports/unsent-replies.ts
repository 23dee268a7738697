import type { IncomingMessage, ServerResponse } from 'node:http'
import { addressOf, type SlowClient, type SlowClientOptions } from './slow-client.ts'

const defaults = { stallTimeoutMs: 30_000, maxUnsentBytes: 256 * 1024 * 1024 }

// A client that is slower than this may be disconnected when replies need too much memory.
const minBytesPerSecond = 262_144
const windowMs = 1_000
// Above this multiple of the limit, even a client that was fast until now may be disconnected.
const hardLimitFactor = 2

/** Replies that clients have not accepted completely. Disconnects clients that stop reading. */
export class UnsentReplies {
  readonly #stallTimeoutMs: number
  readonly #maxBytes: number
  readonly #onSlowClient: (client: SlowClient) => void
  readonly #now: () => number
  readonly #observer: ReplyObserver
  readonly #unsent = new Set<UnsentReply>()
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: SlowClientOptions = {}, now: () => number = () => performance.now()) {
    this.#stallTimeoutMs = options.stallTimeoutMs ?? defaults.stallTimeoutMs
    this.#maxBytes = options.maxUnsentBytes ?? defaults.maxUnsentBytes
    this.#onSlowClient = options.onSlowClient ?? (() => undefined)
    this.#now = now
    this.#observer = { now, changed: (reply, bytes) => this.#changed(reply, bytes) }
  }

  /** Size of all replies that clients have not accepted yet. */
  get bytes(): number {
    return this.#bytes
  }

  /** Tracks a reply until it is sent or its connection is closed. */
  track(request: IncomingMessage, response: ServerResponse): UnsentReply {
    const reply = new UnsentReply(request, response, this.#observer)
    // Not `once`, which needs more memory for each of thousands of open streams.
    const release = (): void => reply.release()
    response.on('close', release).on('finish', release)
    return reply
  }

  /** Disconnects clients that stalled, and the slowest ones while replies exceed the limit. */
  check(): void {
    const now = this.#now()
    for (const reply of this.#unsent) if (reply.stalledMs(now) >= this.#stallTimeoutMs) this.#disconnect(reply, 'stalled')
    this.#disconnectSlowest(this.#maxBytes, (reply) => reply.bytesPerSecond(now) < minBytesPerSecond)
    for (const reply of this.#unsent) reply.startWindow(now)
  }

  #changed(reply: UnsentReply, bytes: number): void {
    this.#bytes += bytes
    if (reply.bytes === 0) this.#unsent.delete(reply)
    else this.#unsent.add(reply)
    if (this.#unsent.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    // Checked after the poll phase, in which the event loop notices what clients have accepted meanwhile.
    this.#timer ??= setInterval(() => setImmediate(() => this.check()), this.#checkMs).unref()
    if (bytes > 0) this.#disconnectSlowest(this.#maxBytes * hardLimitFactor, (each) => each !== reply)
  }

  get #checkMs(): number {
    return Math.ceil(Math.min(windowMs, this.#stallTimeoutMs / 4))
  }

  #disconnectSlowest(limit: number, isEligible: (reply: UnsentReply) => boolean): void {
    if (this.#bytes <= limit) return
    const slowestFirst = [...this.#unsent].filter(isEligible).sort((a, b) => a.progressAt - b.progressAt)
    for (const reply of slowestFirst) {
      if (this.#bytes <= limit) return
      this.#disconnect(reply, 'unsent')
    }
  }

  #disconnect(reply: UnsentReply, reason: SlowClient['reason']): void {
    const { bytes, address } = reply
    reply.disconnect()
    this.#onSlowClient({ reason, bytes, address })
  }
}

interface ReplyObserver {
  readonly now: () => number
  readonly changed: (reply: UnsentReply, bytes: number) => void
}

/** One reply, and how fast its client accepts it. */
export class UnsentReply {
  readonly address: string
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #observer: ReplyObserver
  #bytes = 0
  #progressAt: number
  #windowAt: number
  #windowBytes = 0
  #isReleased = false

  constructor(request: IncomingMessage, response: ServerResponse, observer: ReplyObserver) {
    this.address = addressOf(request)
    this.#request = request
    this.#response = response
    this.#observer = observer
    this.#progressAt = observer.now()
    this.#windowAt = this.#progressAt
  }

  /** Bytes that the client has not accepted. */
  get bytes(): number {
    return this.#bytes
  }

  get progressAt(): number {
    return this.#progressAt
  }

  /** Adds bytes that the client is to accept. */
  add(bytes: number): void {
    if (this.#isReleased) return
    // An event stream may have been silent for long.
    if (this.#bytes === 0) this.#progressAt = this.#observer.now()
    this.#bytes += bytes
    this.#observer.changed(this, bytes)
  }

  /** Removes bytes that the operating system has taken for the client. */
  accept(bytes: number): void {
    if (this.#isReleased) return
    this.#bytes -= bytes
    this.#windowBytes += bytes
    this.#progressAt = this.#observer.now()
    this.#observer.changed(this, -bytes)
  }

  /** Time since the client last accepted anything; 0 if it has accepted everything. */
  stalledMs(now: number): number {
    // The reply to a pipelined request waits for the replies before it.
    const isWaiting = this.#response.socket === null
    return this.#bytes === 0 || isWaiting ? 0 : now - this.#progressAt
  }

  bytesPerSecond(now: number): number {
    const ms = now - this.#windowAt
    return ms < windowMs ? Number.POSITIVE_INFINITY : (this.#windowBytes * 1_000) / ms
  }

  startWindow(now: number): void {
    if (now - this.#windowAt < windowMs) return
    this.#windowAt = now
    this.#windowBytes = 0
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    const bytes = this.#bytes
    this.#bytes = 0
    this.#observer.changed(this, -bytes)
  }

  disconnect(): void {
    this.release()
    // A connection of HTTP/2 has other streams.
    if (this.#request.httpVersionMajor > 1) this.#response.destroy()
    // Without a reset, the kernel would keep its buffers for the rest of the reply.
    else this.#request.socket.resetAndDestroy()
  }
}
