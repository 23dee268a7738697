import { type JSONRPCMessage, type Progress, ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { isRecord } from '@unfold-mcp/core'
import { type ClientError, cancelled, timedOut } from '../errors/errors.ts'
import type { Clock } from '../time/clock.ts'
import { limitsOf, type Timing, timeoutWords } from '../time/request-timeout.ts'
import type { StdioTransport } from '../transports/stdio.ts'

export interface Sending extends Timing {
  /** What is done, as the beginning of a sentence. */
  readonly what: () => string
  /** Whether somebody is being asked: nobody should run out of time over that. */
  readonly isAsking: () => boolean
}

/** What a server answered, as it came. */
export type Result = Readonly<Record<string, unknown>>

interface Waiting {
  readonly id: number
  readonly sending: Sending
  readonly resolve: (result: Result) => void
  readonly reject: (error: Error) => void
  readonly timeoutMs: number
  readonly maxMs: number
  readonly maxAt: number
  idleAt: number
  abort: (() => void) | undefined
}

// Far from those of the SDK, which count from zero, and still small enough for servers that keep them in 32 bits.
const firstId = 2 ** 30
const lastId = 2 ** 31 - 1

/**
 * Requests to a session-era process that do without the SDK, which takes several times as long for each. All wait with one timer,
 * that of the one whose time is up first.
 */
export class Requests {
  readonly #transport: StdioTransport
  readonly #clock: Clock
  readonly #failed: (error: Error) => void
  readonly #waiting = new Map<number, Waiting>()
  #lastId = firstId
  #timerAt = Number.POSITIVE_INFINITY
  #stopTimer: (() => void) | undefined

  /** `failed` is told of what went wrong beside the requests. */
  constructor(transport: StdioTransport, clock: Clock, failed: (error: Error) => void) {
    this.#transport = transport
    this.#failed = failed
    this.#clock = clock
  }

  /** Sends a request, and waits for its answer for as long as there are signs of life. */
  send(method: string, params: Result, sending: Sending): Promise<Result> {
    return new Promise((resolve, reject) => {
      const { signal } = sending
      if (signal?.aborted === true) throw cancelled(sending.what(), signal.reason)
      const id = this.#nextId()
      const meta = isRecord(params._meta) ? { ...params._meta, progressToken: id } : { progressToken: id }
      this.#transport.post({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })
      const { timeoutMs, maxMs } = limitsOf(sending)
      const now = this.#clock.now()
      const idleAt = now + timeoutMs
      const maxAt = now + maxMs
      const waiting: Waiting = { id, sending, resolve, reject, timeoutMs, maxMs, idleAt, maxAt, abort: undefined }
      this.#waiting.set(id, waiting)
      this.#wakeAt(Math.min(idleAt, maxAt), now)
      if (signal === undefined) return
      waiting.abort = () => this.#callOff(waiting, cancelled(sending.what(), signal.reason))
      signal.addEventListener('abort', waiting.abort)
    })
  }

  /** Whether a message is about one of these requests; then nobody else needs to see it. */
  takes(message: JSONRPCMessage): boolean {
    if ('method' in message) return message.method === 'notifications/progress' && this.#progressed(message.params)
    const waiting = this.#waiting.get(Number(message.id))
    if (waiting === undefined) return false
    if ('result' in message && isRecord(message.result)) {
      this.#forget(waiting)
      waiting.resolve(message.result)
      return true
    }
    const error: unknown = 'error' in message ? message.error : undefined
    if (!isRecord(error) || !Number.isInteger(error.code) || typeof error.message !== 'string') return false
    this.#forget(waiting)
    waiting.reject(ProtocolError.fromError(Number(error.code), error.message, error.data))
    return true
  }

  /** No answer will come any more. */
  end(): void {
    for (const waiting of [...this.#waiting.values()]) {
      this.#forget(waiting)
      waiting.reject(new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed'))
    }
    this.#stopTimer?.()
  }

  #nextId(): number {
    do this.#lastId = this.#lastId === lastId ? firstId : this.#lastId + 1
    while (this.#waiting.has(this.#lastId))
    return this.#lastId
  }

  #progressed(params: unknown): boolean {
    if (!isRecord(params)) return false
    const { progressToken, ...report } = params
    const waiting = this.#waiting.get(Number(progressToken))
    if (waiting === undefined || !isProgress(report)) return false
    // In the order of what the server says beside it, which the SDK reads a moment later.
    queueMicrotask(() => {
      waiting.idleAt = this.#clock.now() + waiting.timeoutMs
      try {
        waiting.sending.onProgress?.(report)
      } catch (error) {
        this.#failed(new Error(`Whoever is told of progress failed: ${String(error)}`))
      }
    })
    return true
  }

  #callOff(waiting: Waiting, failure: ClientError): void {
    if (!this.#forget(waiting)) return
    waiting.reject(failure)
    const params = { requestId: waiting.id, reason: failure.message }
    // One that is gone need not be told.
    this.#transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => undefined)
  }

  /** Whether it was still waited for. */
  #forget(waiting: Waiting): boolean {
    const { sending, abort } = waiting
    if (abort !== undefined) sending.signal?.removeEventListener('abort', abort)
    return this.#waiting.delete(waiting.id)
  }

  #wakeAt(at: number, now: number): void {
    if (!(at < this.#timerAt)) return
    this.#stopTimer?.()
    this.#timerAt = at
    // It outlasts requests that are answered, and must not keep a process alive; the server does that while one is not.
    this.#stopTimer = this.#clock.after(at - now, () => this.#wake(), true)
  }

  #wake(): void {
    this.#stopTimer = undefined
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = this.#clock.now()
    let next = Number.POSITIVE_INFINITY
    for (const waiting of [...this.#waiting.values()]) {
      const { sending, timeoutMs, maxMs, maxAt } = waiting
      if (now >= maxAt) {
        this.#callOff(waiting, timedOut(sending.what(), maxMs, timeoutWords.inAll))
        continue
      }
      if (now >= waiting.idleAt && !sending.isAsking()) {
        this.#callOff(waiting, timedOut(sending.what(), timeoutMs, timeoutWords.idle))
        continue
      }
      if (now >= waiting.idleAt) waiting.idleAt = now + timeoutMs
      next = Math.min(next, waiting.idleAt, maxAt)
    }
    if (next !== Number.POSITIVE_INFINITY) this.#wakeAt(next, now)
  }
}

const isOptional = (value: unknown, type: 'number' | 'string'): boolean => value === undefined || typeof value === type

const isProgress = (report: Result): report is Result & Progress =>
  typeof report.progress === 'number' && isOptional(report.total, 'number') && isOptional(report.message, 'string')
