import type { Tool } from '@unfold-mcp/core'
import { ClientError, cancelled, isClientError } from '../errors/errors.ts'
import { type Clock, pause } from '../time/clock.ts'
import { type Difference, differenceOf, isNone } from './difference.ts'

/** A change of the list: what came, what went, what is not what it was, and the list as it is now. */
export interface Change extends Difference {
  readonly tools: readonly Tool[]
  readonly identity?: string
}

export interface FollowOptions {
  /** How often to look when the server does not say by itself that something changed. */
  readonly pollMs?: number
  /** How long to wait for further changes before looking. */
  readonly settleMs?: number
  readonly signal?: AbortSignal
}

/** What a follower needs of a connection. */
export interface Followed {
  readonly clock: Clock
  readonly label: string
  /** Whether a change would be noticed by itself. */
  readonly hears: () => boolean
  /** The list as it was last known. */
  readonly latest: () => readonly Tool[] | undefined
  /** The list as it is. */
  readonly now: () => Promise<readonly Tool[]>
  readonly identity: () => string | undefined
  /** Something may have changed. */
  readonly notice: () => void
  /** Begins to hear of changes, as far as the server can be heard. */
  readonly attach: (follower: Follower) => Promise<void>
  readonly detach: (follower: Follower) => void
}

const defaultPollMs = 30_000
const defaultSettleMs = 20
const retryMs = { first: 100, most: 5_000 }

/** Changes of a list, one after another, for one reader. None is lost, however many come while the reader is busy. */
export interface Changes extends AsyncIterableIterator<Change>, AsyncDisposable {
  /** Resolves when changes are heard of. */
  readonly ready: Promise<void>
  close(): void
}

/** Follows a list. It is read when something may have changed, and what is different is told once. */
export class Follower implements Changes {
  readonly #followed: Followed
  readonly #pollMs: number
  readonly #settleMs: number
  readonly #over = new AbortController()
  #known: readonly Tool[] | undefined
  #isDirty = false
  #wake: () => void = () => undefined
  #failure: ClientError | undefined
  #turn: Promise<unknown> = Promise.resolve()
  readonly ready: Promise<void>

  constructor(followed: Followed, { pollMs = defaultPollMs, settleMs = defaultSettleMs, signal }: FollowOptions = {}) {
    this.#followed = followed
    this.#pollMs = pollMs
    this.#settleMs = settleMs
    // Whoever has seen a list wants to hear of what changed since that one.
    this.#known = followed.latest()
    if (signal?.aborted === true) this.fail(cancelled(`Following ${followed.label}`, signal.reason))
    const abort = (): void => this.fail(cancelled(`Following ${followed.label}`, signal?.reason))
    signal?.addEventListener('abort', abort, { once: true })
    this.#over.signal.addEventListener('abort', () => signal?.removeEventListener('abort', abort), { once: true })
    this.ready = this.#begin()
    this.ready.catch(() => undefined)
  }

  /** Something may have changed. */
  notice(): void {
    this.#isDirty = true
    this.#wake()
  }

  /** Nothing will be heard any more. */
  fail(failure: ClientError): void {
    this.#failure ??= failure
    this.#wake()
  }

  next(): Promise<IteratorResult<Change>> {
    const turn = this.#turn.then(() => this.#next())
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async return(): Promise<IteratorResult<Change>> {
    this.close()
    return { done: true, value: undefined }
  }

  close(): void {
    if (this.#over.signal.aborted) return
    this.#over.abort()
    this.#followed.detach(this)
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
      await this.#followed.attach(this)
      // What changed before it was heard of is found by looking.
      if (this.#known === undefined) this.#known = await this.#followed.now()
      else this.notice()
    } catch (error) {
      if (!passes(error)) this.fail(asFailure(error))
      this.notice()
      throw error
    }
  }

  async #next(): Promise<IteratorResult<Change>> {
    let waitMs = retryMs.first
    while (!this.#over.signal.aborted) {
      await this.#woken()
      if (this.#over.signal.aborted) break
      if (this.#failure !== undefined) throw this.#ended(this.#failure)
      await pause(this.#followed.clock, this.#settleMs, this.#over.signal)
      this.#isDirty = false
      try {
        const change = await this.#look()
        if (change !== undefined) return { done: false, value: change }
      } catch (error) {
        if (!passes(error)) throw this.#ended(asFailure(error))
        // It will be looked at again, so that nothing is lost.
        this.#isDirty = true
        await pause(this.#followed.clock, waitMs, this.#over.signal)
        waitMs = Math.min(waitMs * 2, retryMs.most)
      }
    }
    return { done: true, value: undefined }
  }

  async #look(): Promise<Change | undefined> {
    const tools = await this.#followed.now()
    const before = this.#known
    this.#known = tools
    if (before === undefined) return undefined
    const difference = differenceOf(before, tools)
    if (isNone(difference)) return undefined
    const identity = this.#followed.identity()
    return { ...difference, tools, ...(identity !== undefined && { identity }) }
  }

  #ended(failure: ClientError): ClientError {
    this.close()
    return failure
  }

  /** Waits until something may have changed, or it is time to look. */
  async #woken(): Promise<void> {
    while (!this.#isDirty && this.#failure === undefined && !this.#over.signal.aborted) {
      let off: () => void = () => undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        off = this.#followed.clock.after(this.#pollMs, () => {
          if (!this.#followed.hears()) {
            this.#followed.notice()
            this.#isDirty = true
          }
          resolve()
        })
      })
      off()
    }
  }
}

/** Whether a failure may be over in a moment. */
const passes = (error: unknown): boolean => isClientError(error, 'unreachable') || isClientError(error, 'timeout')

const asFailure = (error: unknown): ClientError =>
  error instanceof ClientError ? error : new ClientError('protocol', String(error), { problem: String(error) }, { cause: error })
