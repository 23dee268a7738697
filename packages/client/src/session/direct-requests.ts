import { type JSONRPCMessage, type Progress, ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { isRecord } from '@unfold-mcp/core'
import { type ClientError, cancelled, timedOut } from '../errors/errors.ts'
import type { Clock } from '../time/clock.ts'
import { type TimeoutOptions, timeoutHints, timeoutLimits } from '../time/request-timeout.ts'
import type { StdioTransport } from '../transports/stdio.ts'

export interface DirectRequestOptions extends TimeoutOptions {
  /** Operation, as the beginning of a sentence. */
  readonly what: () => string
  readonly isWaitingForUser: () => boolean
}

export type Result = Readonly<Record<string, unknown>>

interface PendingRequest {
  readonly id: number
  readonly options: DirectRequestOptions
  readonly resolve: (result: Result) => void
  readonly reject: (error: Error) => void
  readonly timeoutMs: number
  readonly maxMs: number
  readonly maxAt: number
  idleAt: number
  abort: (() => void) | undefined
}

// Does not overlap with the ids of the SDK, which start at zero, and fits into 32 bits for servers that need that.
const firstId = 2 ** 30
const lastId = 2 ** 31 - 1

/**
 * Sends requests to a session-era process without the SDK, which takes several times as long per request. All requests share one
 * timer, set to the earliest deadline.
 */
export class DirectRequests {
  readonly #transport: StdioTransport
  readonly #clock: Clock
  readonly #onError: (error: Error) => void
  readonly #pending = new Map<number, PendingRequest>()
  #lastId = firstId
  #timerAt = Number.POSITIVE_INFINITY
  #stopTimer: (() => void) | undefined

  /** `onError` receives errors thrown by progress handlers. */
  constructor(transport: StdioTransport, clock: Clock, onError: (error: Error) => void) {
    this.#transport = transport
    this.#onError = onError
    this.#clock = clock
  }

  /** Sends a request and waits for the response. Progress restarts the timeout. */
  send(method: string, params: Result, options: DirectRequestOptions): Promise<Result> {
    return new Promise((resolve, reject) => {
      const { signal } = options
      if (signal?.aborted === true) throw cancelled(options.what(), signal.reason)
      const id = this.#nextId()
      const meta = isRecord(params._meta) ? { ...params._meta, progressToken: id } : { progressToken: id }
      this.#transport.post({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })
      const { timeoutMs, maxMs } = timeoutLimits(options)
      const now = this.#clock.now()
      const idleAt = now + timeoutMs
      const maxAt = now + maxMs
      const pending: PendingRequest = { id, options, resolve, reject, timeoutMs, maxMs, idleAt, maxAt, abort: undefined }
      this.#pending.set(id, pending)
      this.#wakeAt(Math.min(idleAt, maxAt), now)
      if (signal === undefined) return
      pending.abort = () => this.#callOff(pending, cancelled(options.what(), signal.reason))
      signal.addEventListener('abort', pending.abort)
    })
  }

  /** Handles a message that belongs to one of these requests; returns whether it did. */
  consume(message: JSONRPCMessage): boolean {
    if ('method' in message) return message.method === 'notifications/progress' && this.#progressed(message.params)
    const pending = this.#pending.get(Number(message.id))
    if (pending === undefined) return false
    if ('result' in message && isRecord(message.result)) {
      this.#forget(pending)
      pending.resolve(message.result)
      return true
    }
    const error: unknown = 'error' in message ? message.error : undefined
    if (!isRecord(error) || !Number.isInteger(error.code) || typeof error.message !== 'string') return false
    this.#forget(pending)
    pending.reject(ProtocolError.fromError(Number(error.code), error.message, error.data))
    return true
  }

  /** Rejects all pending requests. */
  end(): void {
    for (const pending of [...this.#pending.values()]) {
      this.#forget(pending)
      pending.reject(new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed'))
    }
    this.#stopTimer?.()
  }

  #nextId(): number {
    do this.#lastId = this.#lastId === lastId ? firstId : this.#lastId + 1
    while (this.#pending.has(this.#lastId))
    return this.#lastId
  }

  #progressed(params: unknown): boolean {
    if (!isRecord(params)) return false
    const { progressToken, ...report } = params
    const pending = this.#pending.get(Number(progressToken))
    if (pending === undefined || !isProgress(report)) return false
    // Keeps the order with notifications that the SDK handles one tick later.
    queueMicrotask(() => {
      pending.idleAt = this.#clock.now() + pending.timeoutMs
      try {
        pending.options.onProgress?.(report)
      } catch (error) {
        this.#onError(new Error(`A progress handler failed: ${String(error)}`))
      }
    })
    return true
  }

  #callOff(pending: PendingRequest, failure: ClientError): void {
    if (!this.#forget(pending)) return
    pending.reject(failure)
    const params = { requestId: pending.id, reason: failure.message }
    // A process that has exited needs no cancellation.
    this.#transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => undefined)
  }

  /** Returns whether the request was still pending. */
  #forget(pending: PendingRequest): boolean {
    const { options, abort } = pending
    if (abort !== undefined) options.signal?.removeEventListener('abort', abort)
    return this.#pending.delete(pending.id)
  }

  #wakeAt(at: number, now: number): void {
    if (!(at < this.#timerAt)) return
    this.#stopTimer?.()
    this.#timerAt = at
    // The timer may outlive the requests and must not keep this process alive; the pipe of the server does that.
    this.#stopTimer = this.#clock.after(at - now, () => this.#wake(), true)
  }

  #wake(): void {
    this.#stopTimer = undefined
    this.#timerAt = Number.POSITIVE_INFINITY
    const now = this.#clock.now()
    let next = Number.POSITIVE_INFINITY
    for (const pending of [...this.#pending.values()]) {
      const { options, timeoutMs, maxMs, maxAt } = pending
      if (now >= maxAt) {
        this.#callOff(pending, timedOut(options.what(), maxMs, timeoutHints.total))
        continue
      }
      if (now >= pending.idleAt && !options.isWaitingForUser()) {
        this.#callOff(pending, timedOut(options.what(), timeoutMs, timeoutHints.idle))
        continue
      }
      if (now >= pending.idleAt) pending.idleAt = now + timeoutMs
      next = Math.min(next, pending.idleAt, maxAt)
    }
    if (next !== Number.POSITIVE_INFINITY) this.#wakeAt(next, now)
  }
}

const isOptional = (value: unknown, type: 'number' | 'string'): boolean => value === undefined || typeof value === type

const isProgress = (report: Result): report is Result & Progress =>
  typeof report.progress === 'number' && isOptional(report.total, 'number') && isOptional(report.message, 'string')
