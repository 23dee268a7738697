import { type Clock, isClientError } from '@unfold-mcp/client'

export interface RefresherOptions<T> {
  readonly read: (signal: AbortSignal) => Promise<T>
  readonly differs: (tools: T) => boolean
  /** Called with the newest value; never with an older one than before. */
  readonly publish: (tools: T, stats: RefreshStats) => void
  /** Called after each successful read. */
  readonly succeeded?: (tools: T) => void
  readonly failed: (error: unknown, attempt: number, retryInMs: number) => void
  /** Called when the upstream announces changes too often, once until it is calm again. */
  readonly throttled: (delayMs: number) => void
  readonly clock: Clock
  /** Between 0 and 1. */
  readonly random: () => number
  readonly pace?: Partial<Pace>
}

/** Cost of following a change. */
export interface RefreshStats {
  readonly reads: number
  /** Since the first notification. */
  readonly ms: number
}

/** Timing of refreshes. */
export interface Pace {
  /** Debounce time after a single notification. */
  readonly initialQuietMs: number
  /** Debounce time within a burst of notifications. */
  readonly quietMs: number
  /** Maximum debounce time. */
  readonly maxQuietMs: number
  /** How long a result may be held back during a burst, so that clients see one change. */
  readonly maxHoldMs: number
  readonly timeoutMs: number
  readonly initialRetryMs: number
  readonly maxRetryMs: number
  /** Consecutive reads without a change before the upstream is throttled. */
  readonly maxIdleReads: number
  readonly maxDelayMs: number
  /** Consecutive reads without a pause before the upstream is throttled. */
  readonly maxBusyReads: number
  readonly maxBusyDelayMs: number
  /** A notification this long after a read was not caused by it. */
  readonly echoMs: number
  /** Throttling ends after this time without a read. */
  readonly calmMs: number
}

export const defaultPace: Pace = {
  initialQuietMs: 8,
  quietMs: 25,
  maxQuietMs: 75,
  maxHoldMs: 500,
  timeoutMs: 30_000,
  initialRetryMs: 500,
  maxRetryMs: 60_000,
  maxIdleReads: 3,
  maxDelayMs: 10_000,
  maxBusyReads: 20,
  maxBusyDelayMs: 1_000,
  echoMs: 50,
  calmMs: 2_000,
}

const initialDelayMs = 100
const initialBusyDelayMs = 50

interface Waiter<T> {
  readonly resolve: (tools: T) => void
  readonly reject: (error: unknown) => void
}

/** Causes of a read. */
interface ReadCause {
  readonly isNoticed: boolean
  readonly isRequested: boolean
}

/**
 * Keeps a list up to date. There is one read at a time; notifications during a read cause exactly one more, so no change is lost; a
 * failed read is retried until one succeeds.
 */
export class Refresher<T> {
  readonly #options: RefresherOptions<T>
  readonly #pace: Pace
  #state: 'idle' | 'debouncing' | 'reading' | 'waiting' | 'closed' = 'idle'
  /** True if a notification arrived since the last read began. */
  #isDirty = false
  #cancel: () => void = () => undefined
  #abort: AbortController | undefined
  #firstNotification = 0
  #lastNotification = 0
  /** Since the last idle state. */
  #notifications = 0
  #lastRead = Number.NEGATIVE_INFINITY
  #attempt = 0
  /** Consecutive reads caused by notifications: without a change, and without a pause. */
  #idleReads = 0
  #busyReads = 0
  #isThrottled = false
  #held: { readonly tools: T; readonly cancelTimer: () => void } | undefined
  /** Since the last publication. */
  #reads = 0
  #startedAt: number | undefined
  #waiters: Waiter<T>[] = []

  constructor(options: RefresherOptions<T>) {
    this.#options = options
    this.#pace = { ...defaultPace, ...options.pace }
  }

  /** Throttling delay; 0 if the upstream is not throttled. */
  get delayMs(): number {
    const { maxIdleReads, maxDelayMs, maxBusyReads, maxBusyDelayMs } = this.#pace
    const grown = (initial: number, max: number, times: number): number => (times < 0 ? 0 : Math.min(max, initial * 2 ** times))
    return Math.max(
      grown(initialDelayMs, maxDelayMs, this.#idleReads - maxIdleReads),
      grown(initialBusyDelayMs, maxBusyDelayMs, this.#busyReads - maxBusyReads),
    )
  }

  /** Schedules a read after a notification. */
  notify(): void {
    if (this.#state === 'closed') return
    this.#isDirty = true
    const now = this.#options.clock.now()
    this.#startedAt ??= now
    this.#lastNotification = now
    this.#notifications++
    if (this.#state === 'idle') {
      const { echoMs, calmMs, initialQuietMs, quietMs } = this.#pace
      const isSingle = now - this.#lastRead > echoMs
      if (isSingle) this.#busyReads = 0
      if (now - this.#lastRead > calmMs) this.#idleReads = 0
      if (this.delayMs === 0) this.#isThrottled = false
      this.#firstNotification = now
      this.#scheduleRead(isSingle ? initialQuietMs : quietMs)
      return
    }
    if (this.#state !== 'debouncing') return
    const left = this.#firstNotification + this.#pace.maxQuietMs - now
    this.#readAfter('debouncing', Math.max(0, Math.min(this.#pace.quietMs, left)))
  }

  /** Reads immediately. Resolves with the result of a read that starts from now on. */
  readNow(): Promise<T> {
    if (this.#state === 'closed') return Promise.reject(closed())
    const result = new Promise<T>((resolve, reject) => {
      this.#waiters.push({ resolve, reject })
    })
    // Callers may ignore the promise: failures are reported through `failed`.
    result.catch(() => undefined)
    this.#startedAt ??= this.#options.clock.now()
    if (this.#state !== 'reading') this.#read(false)
    return result
  }

  close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#cancel()
    this.#drop()
    this.#abort?.abort(closed())
    for (const { reject } of this.#waiters.splice(0)) reject(closed())
  }

  #read(isNoticed: boolean): void {
    this.#cancel()
    this.#state = 'reading'
    this.#isDirty = false
    this.#reads += 1
    const waiters = this.#waiters.splice(0)
    const abort = new AbortController()
    this.#abort = abort
    let hasEnded = false
    const end = (done: () => void, settle: (waiter: Waiter<T>) => void): void => {
      if (hasEnded) return
      hasEnded = true
      stopTimer()
      if (this.#state !== 'closed') done()
      for (const waiter of waiters) settle(waiter)
    }
    const failed = (error: unknown): void =>
      end(
        () => this.#failed(error),
        ({ reject }) => reject(error),
      )
    const { timeoutMs } = this.#pace
    const stopTimer = this.#options.clock.after(timeoutMs, () => {
      abort.abort(new Error(`no response within ${timeoutMs / 1_000} s`))
    })
    this.#options.read(abort.signal).then(
      (tools) =>
        end(
          () => this.#accept(tools, { isNoticed, isRequested: waiters.length > 0 }),
          ({ resolve }) => resolve(tools),
        ),
      failed,
    )
    // Registered after the reader's own listener, so that the read ends before another begins.
    abort.signal.addEventListener('abort', () => failed(abort.signal.reason))
  }

  /** A result that cannot be compared or published counts as a failed read. */
  #accept(tools: T, cause: ReadCause): void {
    try {
      this.#handle(tools, cause)
    } catch (error) {
      if (!this.#isClosed()) this.#failed(error)
    }
  }

  #handle(tools: T, { isNoticed, isRequested }: ReadCause): void {
    const { clock, differs } = this.#options
    this.#lastRead = clock.now()
    this.#attempt = 0
    const isChanged = differs(tools)
    if (isNoticed) this.#busyReads += 1
    if (isChanged) this.#idleReads = 0
    else if (isNoticed) this.#idleReads += 1
    if (isChanged) this.#hold(tools)
    else this.#drop()
    if (isRequested) this.#release()
    else if (!this.#isDirty) this.#releaseWhenQuiet()
    if (!this.#isClosed()) this.#options.succeeded?.(tools)
    if (this.#isClosed()) return
    this.#state = 'idle'
    if (this.#waiters.length > 0) this.#read(false)
    else if (this.#isDirty) {
      this.#firstNotification = this.#lastRead
      this.#scheduleRead()
    } else if (this.#held === undefined) this.#reset()
  }

  /** Within a burst, publishes only when no further notification follows. */
  #releaseWhenQuiet(): void {
    const { clock } = this.#options
    const remainingMs = this.#notifications > 1 ? this.#lastNotification + this.#pace.quietMs - clock.now() : 0
    if (remainingMs <= 0 || this.#held === undefined) {
      this.#release()
      return
    }
    const held = this.#held
    clock.after(remainingMs, () => {
      if (this.#held === held && !this.#isDirty) this.#release()
    })
  }

  #reset(): void {
    this.#startedAt = undefined
    this.#reads = 0
    this.#notifications = 0
  }

  /** Schedules the next read, delayed if the upstream is throttled. */
  #scheduleRead(quietMs = this.#pace.quietMs): void {
    const { delayMs } = this
    if (delayMs === 0) {
      this.#readAfter('debouncing', quietMs)
      return
    }
    if (!this.#isThrottled) this.#options.throttled(delayMs)
    this.#isThrottled = true
    if (!this.#isClosed()) this.#readAfter('waiting', delayMs)
  }

  #failed(error: unknown): void {
    this.#release()
    const { initialRetryMs, maxRetryMs } = this.#pace
    this.#attempt += 1
    const backoff = Math.min(maxRetryMs, initialRetryMs * 2 ** (this.#attempt - 1)) * (0.5 + this.#options.random())
    const delay = Math.max(backoff, isClientError(error) ? (error.retryAfterMs ?? 0) : 0)
    this.#options.failed(error, this.#attempt, delay)
    if (this.#isClosed()) return
    this.#state = 'idle'
    if (this.#waiters.length > 0) this.#read(false)
    else this.#readAfter('waiting', delay)
  }

  #readAfter(state: 'debouncing' | 'waiting', ms: number): void {
    this.#cancel()
    this.#state = state
    this.#cancel = this.#options.clock.after(ms, () => this.#read(this.#isDirty))
  }

  // A method, because callbacks may close the refresher.
  #isClosed(): boolean {
    return this.#state === 'closed'
  }

  #hold(tools: T): void {
    const cancelTimer = this.#held?.cancelTimer ?? this.#options.clock.after(this.#pace.maxHoldMs, () => this.#release())
    this.#held = { tools, cancelTimer }
  }

  #drop(): void {
    this.#held?.cancelTimer()
    this.#held = undefined
  }

  #release(): void {
    const held = this.#held
    if (held === undefined) return
    this.#drop()
    const now = this.#options.clock.now()
    const stats = { reads: this.#reads, ms: now - (this.#startedAt ?? now) }
    this.#reset()
    if (this.#isDirty) this.#startedAt = now
    this.#options.publish(held.tools, stats)
  }
}

const closed = (): Error => new Error('The refresher is closed.')
