import type { Tool } from '@unfold-mcp/core'
import { ClientError, cancelled, isClientError } from '../errors/errors.ts'
import { type Clock, pause } from '../time/clock.ts'
import { type Difference, diffTools, isEmptyDifference } from './difference.ts'

/** Change of the tool list, and the list after it. */
export interface Change extends Difference {
  readonly tools: readonly Tool[]
  readonly identity?: string
}

export interface FollowOptions {
  /** Interval for polling a server that does not announce changes. Default: 30 000. */
  readonly pollMs?: number
  /** How long to wait for further changes before listing. Default: 20. */
  readonly settleMs?: number
  readonly signal?: AbortSignal
}

/** List to follow. */
export interface ToolListSource {
  readonly clock: Clock
  readonly label: string
  /** True when the server announces changes. */
  readonly receivesChanges: () => boolean
  /** The list read last. */
  readonly latest: () => readonly Tool[] | undefined
  /** Reads the current list. */
  readonly current: () => Promise<readonly Tool[]>
  readonly identity: () => string | undefined
  readonly invalidate: () => void
  /** Subscribes to announcements, if the server sends any. */
  readonly attach: (follower: ChangeFollower) => Promise<void>
  readonly detach: (follower: ChangeFollower) => void
}

const defaultPollMs = 30_000
const defaultSettleMs = 20
const retryMs = { first: 100, max: 5_000 }

/** Changes of a tool list for one reader. None is lost while the reader is busy. */
export interface Changes extends AsyncIterableIterator<Change>, AsyncDisposable {
  /** Resolves when announcements arrive. */
  readonly ready: Promise<void>
  close(): void
}

/** Reads the list whenever it may have changed, and returns the difference. */
export class ChangeFollower implements Changes {
  readonly #source: ToolListSource
  readonly #pollMs: number
  readonly #settleMs: number
  readonly #stopped = new AbortController()
  #known: readonly Tool[] | undefined
  #isDirty = false
  #wake: () => void = () => undefined
  #failure: ClientError | undefined
  #queue: Promise<unknown> = Promise.resolve()
  readonly ready: Promise<void>

  constructor(source: ToolListSource, { pollMs = defaultPollMs, settleMs = defaultSettleMs, signal }: FollowOptions = {}) {
    this.#source = source
    this.#pollMs = pollMs
    this.#settleMs = settleMs
    // A reader that has seen a list expects the changes since then.
    this.#known = source.latest()
    if (signal?.aborted === true) this.fail(cancelled(`Following ${source.label}`, signal.reason))
    const abort = (): void => this.fail(cancelled(`Following ${source.label}`, signal?.reason))
    signal?.addEventListener('abort', abort, { once: true })
    this.#stopped.signal.addEventListener('abort', () => signal?.removeEventListener('abort', abort), { once: true })
    this.ready = this.#begin()
    this.ready.catch(() => undefined)
  }

  /** The list may have changed. */
  invalidate(): void {
    this.#isDirty = true
    this.#wake()
  }

  /** No more announcements will arrive. */
  fail(failure: ClientError): void {
    this.#failure ??= failure
    this.#wake()
  }

  next(): Promise<IteratorResult<Change>> {
    const result = this.#queue.then(() => this.#next())
    this.#queue = result.catch(() => undefined)
    return result
  }

  async return(): Promise<IteratorResult<Change>> {
    this.close()
    return { done: true, value: undefined }
  }

  close(): void {
    if (this.#stopped.signal.aborted) return
    this.#stopped.abort()
    this.#source.detach(this)
    this.#wake()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  async #begin(): Promise<void> {
    try {
      await this.#source.attach(this)
      // Finds changes made before announcements arrived.
      if (this.#known === undefined) this.#known = await this.#source.current()
      else this.invalidate()
    } catch (error) {
      if (!isTransient(error)) this.fail(asFailure(error))
      this.invalidate()
      throw error
    }
  }

  async #next(): Promise<IteratorResult<Change>> {
    let waitMs = retryMs.first
    while (!this.#stopped.signal.aborted) {
      await this.#woken()
      if (this.#stopped.signal.aborted) break
      if (this.#failure !== undefined) throw this.#closeWith(this.#failure)
      await pause(this.#source.clock, this.#settleMs, this.#stopped.signal)
      this.#isDirty = false
      try {
        const change = await this.#read()
        if (change !== undefined) return { done: false, value: change }
      } catch (error) {
        if (!isTransient(error)) throw this.#closeWith(asFailure(error))
        // Read again, so that no change is lost.
        this.#isDirty = true
        await pause(this.#source.clock, waitMs, this.#stopped.signal)
        waitMs = Math.min(waitMs * 2, retryMs.max)
      }
    }
    return { done: true, value: undefined }
  }

  async #read(): Promise<Change | undefined> {
    const tools = await this.#source.current()
    const before = this.#known
    this.#known = tools
    if (before === undefined) return undefined
    const difference = diffTools(before, tools)
    if (isEmptyDifference(difference)) return undefined
    const identity = this.#source.identity()
    return { ...difference, tools, ...(identity !== undefined && { identity }) }
  }

  #closeWith(failure: ClientError): ClientError {
    this.close()
    return failure
  }

  /** Waits until the list may have changed, or a poll is due. */
  async #woken(): Promise<void> {
    while (!this.#isDirty && this.#failure === undefined && !this.#stopped.signal.aborted) {
      let off: () => void = () => undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        off = this.#source.clock.after(this.#pollMs, () => {
          if (!this.#source.receivesChanges()) {
            this.#source.invalidate()
            this.#isDirty = true
          }
          resolve()
        })
      })
      off()
    }
  }
}

const isTransient = (error: unknown): boolean => isClientError(error, 'unreachable') || isClientError(error, 'timeout')

const asFailure = (error: unknown): ClientError =>
  error instanceof ClientError ? error : new ClientError('protocol', String(error), { problem: String(error) }, { cause: error })
