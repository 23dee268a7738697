import type { Clock } from '../clock.ts'

/** What one look at an upstream's tools gave. */
export interface Look<T> {
  readonly tools: T
  /** Whether they differ from what was published last. */
  readonly isChanged: boolean
}

export interface RefresherOptions<T> {
  /** Reads all tools of the upstream. */
  readonly look: (signal: AbortSignal) => Promise<Look<T>>
  /** Takes what was read into use. Never called with something older than before. */
  readonly publish: (tools: T, looks: number) => void
  readonly failed: (error: unknown, attempt: number, retryInMs: number | undefined) => void
  /** The upstream says that it changed again and again, and it does not. */
  readonly restless: (delayMs: number) => void
  readonly clock: Clock
  /** Between 0 and 1. */
  readonly random: () => number
  readonly pace?: Partial<Pace>
}

/** How fast changes are followed. */
export interface Pace {
  /** How long to wait for further notices before looking: a burst is one change. */
  readonly quietMs: number
  /** How long to wait at most, however many come. */
  readonly longestQuietMs: number
  /** How long what was read may be held back while further notices come in: clients are told of one change, not of its parts. */
  readonly longestHoldMs: number
  readonly timeoutMs: number
  readonly firstRetryMs: number
  readonly longestRetryMs: number
  readonly retries: number
  /** How many looks in a row may find nothing new before an upstream that keeps asking for them is slowed down. */
  readonly patience: number
  readonly longestDelayMs: number
  /** A notice that comes so long after the last look is taken at its word again. */
  readonly calmMs: number
}

export const defaultPace: Pace = {
  quietMs: 15,
  longestQuietMs: 60,
  longestHoldMs: 500,
  timeoutMs: 30_000,
  firstRetryMs: 500,
  longestRetryMs: 30_000,
  retries: 5,
  patience: 3,
  longestDelayMs: 60_000,
  calmMs: 2_000,
}

/**
 * Follows the tools of one upstream. However many notices come, one look at a time; a notice that comes during a look causes
 * exactly one more; none is ever lost.
 */
export class Refresher<T> {
  readonly #options: RefresherOptions<T>
  readonly #pace: Pace
  #state: 'idle' | 'settling' | 'looking' | 'waiting' | 'closed' = 'idle'
  #isDirty = false
  #firstNotice = 0
  #cancel: () => void = () => undefined
  #attempt = 0
  #idleLooks = 0
  #held: { readonly tools: T; readonly since: number } | undefined
  #looks = 0
  #lastLook = Number.NEGATIVE_INFINITY
  #abort: AbortController | undefined

  constructor(options: RefresherOptions<T>) {
    this.#options = options
    this.#pace = { ...defaultPace, ...options.pace }
  }

  /** The upstream may have changed. */
  notice(): void {
    if (this.#state === 'closed') return
    this.#isDirty = true
    const now = this.#options.clock.now()
    if (this.#state === 'idle') {
      // One that speaks up long after it was looked at means it.
      if (now - this.#lastLook > this.#pace.calmMs) this.#idleLooks = 0
      this.#firstNotice = now
      this.#next()
      return
    }
    if (this.#state !== 'settling') return
    const left = this.#firstNotice + this.#pace.longestQuietMs - now
    this.#settle(Math.max(0, Math.min(this.#pace.quietMs, left)))
  }

  /** Looks at once: the upstream is new, was gone, or somebody asked. */
  now(): void {
    if (this.#state === 'closed') return
    this.#isDirty = true
    this.#attempt = 0
    if (this.#state === 'looking') return
    this.#cancel()
    this.#look()
  }

  close(): void {
    this.#state = 'closed'
    this.#cancel()
    this.#abort?.abort()
  }

  #settle(ms: number): void {
    this.#cancel()
    this.#state = 'settling'
    this.#cancel = this.#options.clock.after(ms, () => this.#look())
  }

  #look(): void {
    this.#state = 'looking'
    this.#isDirty = false
    this.#looks += 1
    const abort = new AbortController()
    this.#abort = abort
    const { clock, look } = this.#options
    const { timeoutMs } = this.#pace
    let isOver = false
    const end = (done: () => void): void => {
      if (isOver) return
      isOver = true
      cancel()
      if (this.#state !== 'closed') done()
    }
    const cancel = clock.after(timeoutMs, () => {
      abort.abort()
      end(() => this.#failed(new Error(`It did not list its tools within ${timeoutMs / 1000} s.`)))
    })
    look(abort.signal).then(
      (found) => end(() => this.#found(found)),
      (error: unknown) => end(() => this.#failed(error)),
    )
  }

  #found({ tools, isChanged }: Look<T>): void {
    const now = this.#options.clock.now()
    this.#lastLook = now
    this.#attempt = 0
    this.#idleLooks = isChanged ? 0 : this.#idleLooks + 1
    if (isChanged) this.#held = { tools, since: this.#held?.since ?? now }
    else this.#held = undefined
    if (!this.#isDirty) {
      this.#release()
      this.#state = 'idle'
      return
    }
    if (this.#held !== undefined && now - this.#held.since >= this.#pace.longestHoldMs) this.#release()
    this.#firstNotice = now
    this.#next()
  }

  /** Looks soon; later and later at an upstream that says that it changed, time after time, and has not. */
  #next(): void {
    const { patience, quietMs, longestDelayMs } = this.#pace
    if (this.#idleLooks < patience) return this.#settle(quietMs)
    const delay = Math.min(longestDelayMs, 100 * 2 ** (this.#idleLooks - patience))
    this.#options.restless(delay)
    this.#wait(delay)
  }

  #failed(error: unknown): void {
    this.#release()
    const { firstRetryMs, longestRetryMs, retries } = this.#pace
    this.#attempt += 1
    if (this.#attempt > retries) {
      this.#options.failed(error, this.#attempt, undefined)
      this.#attempt = 0
      // A notice that came during the last attempt deserves one of its own.
      if (this.#isDirty) this.#wait(longestRetryMs)
      else this.#state = 'idle'
      return
    }
    const delay = Math.min(longestRetryMs, firstRetryMs * 2 ** (this.#attempt - 1)) * (0.5 + this.#options.random())
    this.#options.failed(error, this.#attempt, delay)
    this.#wait(delay)
  }

  #wait(ms: number): void {
    this.#cancel()
    this.#state = 'waiting'
    this.#cancel = this.#options.clock.after(ms, () => this.#look())
  }

  #release(): void {
    if (this.#held === undefined) return
    const { tools } = this.#held
    this.#held = undefined
    this.#options.publish(tools, this.#looks)
    this.#looks = 0
  }
}
