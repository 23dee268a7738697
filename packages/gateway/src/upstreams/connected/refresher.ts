import type { Clock } from '@unfold-mcp/client'

export interface RefresherOptions<T> {
  /** Reads all tools of the upstream. */
  readonly read: (signal: AbortSignal) => Promise<T>
  /** Whether these are not what was published last. */
  readonly differs: (tools: T) => boolean
  /** Takes what was read into use. Never called with something older than before. */
  readonly publish: (tools: T, work: Work) => void
  /** Told of each read that succeeded, once what it found is in use unless more is about to change. */
  readonly found?: (tools: T) => void
  readonly failed: (error: unknown, attempt: number, retryInMs: number) => void
  /** The upstream says that it changed so often that it is looked at more slowly from now on. Told once, until it is calm again. */
  readonly throttled: (delayMs: number) => void
  readonly clock: Clock
  /** Between 0 and 1. */
  readonly random: () => number
  readonly pace?: Partial<Pace>
}

/** What following a change took. */
export interface Work {
  readonly reads: number
  /** From the first notice on. */
  readonly ms: number
}

/** How fast changes are followed. */
export interface Pace {
  /** How long to wait after a single notice before looking: the next of a burst comes sooner. */
  readonly initialQuietMs: number
  /** How long to wait for further notices once there was more than one: a burst is one change. */
  readonly quietMs: number
  /** How long to wait at most, however many come. */
  readonly maxQuietMs: number
  /** How long what was read may be held back while further notices come in: clients are told of one change, not of its parts. */
  readonly maxHoldMs: number
  readonly timeoutMs: number
  readonly initialRetryMs: number
  readonly maxRetryMs: number
  /** How many reads in a row may find nothing new before an upstream that keeps asking for them is slowed down. */
  readonly maxIdleReads: number
  readonly maxDelayMs: number
  /** How many reads one right after another there may be before it is slowed down, whatever they find. */
  readonly maxBusyReads: number
  readonly maxBusyDelayMs: number
  /** A notice that comes so long after the last read is not its echo. */
  readonly echoMs: number
  /** A notice that comes so long after the last read is taken at its word again. */
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

const firstDelayMs = 100
const firstBusyDelayMs = 50

interface Asker<T> {
  readonly resolve: (tools: T) => void
  readonly reject: (error: unknown) => void
}

/** Why there was a read. */
interface Why {
  readonly isNoticed: boolean
  readonly isAsked: boolean
}

/**
 * Follows the tools of one upstream. However many notices come, one read at a time; a notice that comes during a read causes
 * exactly one more; none is ever lost, and a read that failed is repeated until one succeeds.
 */
export class Refresher<T> {
  readonly #options: RefresherOptions<T>
  readonly #pace: Pace
  #state: 'idle' | 'settling' | 'looking' | 'waiting' | 'closed' = 'idle'
  /** Whether a notice came since the last read began. */
  #isDirty = false
  #cancel: () => void = () => undefined
  #abort: AbortController | undefined
  #firstNotice = 0
  #lastNotice = 0
  /** Since it was last at rest. */
  #notices = 0
  #lastLook = Number.NEGATIVE_INFINITY
  #attempt = 0
  /** Looks in a row that notices asked for: those that found nothing new, and those one right after another. */
  #idleLooks = 0
  #busyLooks = 0
  #isRestless = false
  #held: { readonly tools: T; readonly letGo: () => void } | undefined
  /** Since the last time that something was published. */
  #reads = 0
  #begun: number | undefined
  #asking: Asker<T>[] = []

  constructor(options: RefresherOptions<T>) {
    this.#options = options
    this.#pace = { ...defaultPace, ...options.pace }
  }

  /** How long the next notice has to wait because of those before; 0 for an upstream that is taken at its word. */
  get delayMs(): number {
    const { maxIdleReads, maxDelayMs, maxBusyReads, maxBusyDelayMs } = this.#pace
    const grown = (first: number, most: number, times: number): number => (times < 0 ? 0 : Math.min(most, first * 2 ** times))
    return Math.max(
      grown(firstDelayMs, maxDelayMs, this.#idleLooks - maxIdleReads),
      grown(firstBusyDelayMs, maxBusyDelayMs, this.#busyLooks - maxBusyReads),
    )
  }

  /** The upstream may have changed. */
  notice(): void {
    if (this.#state === 'closed') return
    this.#isDirty = true
    const now = this.#options.clock.now()
    this.#begun ??= now
    this.#lastNotice = now
    this.#notices++
    if (this.#state === 'idle') {
      const { echoMs, calmMs, initialQuietMs, quietMs } = this.#pace
      const isSingle = now - this.#lastLook > echoMs
      if (isSingle) this.#busyLooks = 0
      if (now - this.#lastLook > calmMs) this.#idleLooks = 0
      if (this.delayMs === 0) this.#isRestless = false
      this.#firstNotice = now
      this.#next(isSingle ? initialQuietMs : quietMs)
      return
    }
    if (this.#state !== 'settling') return
    const left = this.#firstNotice + this.#pace.maxQuietMs - now
    this.#later('settling', Math.max(0, Math.min(this.#pace.quietMs, left)))
  }

  /** Looks at once: the upstream is new, was gone, or somebody asked. Resolves with what a read that begins from now on finds. */
  now(): Promise<T> {
    if (this.#state === 'closed') return Promise.reject(closed())
    const found = new Promise<T>((resolve, reject) => {
      this.#asking.push({ resolve, reject })
    })
    // Whoever does not wait is told of failures like everybody else.
    found.catch(() => undefined)
    this.#begun ??= this.#options.clock.now()
    if (this.#state !== 'looking') this.#read(false)
    return found
  }

  close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#cancel()
    this.#drop()
    this.#abort?.abort(closed())
    for (const { reject } of this.#asking.splice(0)) reject(closed())
  }

  #read(isNoticed: boolean): void {
    this.#cancel()
    this.#state = 'looking'
    this.#isDirty = false
    this.#reads += 1
    const askers = this.#asking.splice(0)
    const abort = new AbortController()
    this.#abort = abort
    let isClosed = false
    const end = (done: () => void, tell: (asker: Asker<T>) => void): void => {
      if (isClosed) return
      isClosed = true
      stopTimer()
      if (this.#state !== 'closed') done()
      for (const asker of askers) tell(asker)
    }
    const failed = (error: unknown): void =>
      end(
        () => this.#failed(error),
        ({ reject }) => reject(error),
      )
    const { timeoutMs } = this.#pace
    const stopTimer = this.#options.clock.after(timeoutMs, () => {
      abort.abort(new Error(`no answer within ${timeoutMs / 1_000} s`))
    })
    this.#options.read(abort.signal).then(
      (tools) =>
        end(
          () => this.#taken(tools, { isNoticed, isAsked: askers.length > 0 }),
          ({ resolve }) => resolve(tools),
        ),
      failed,
    )
    // After the read's own, so that it is over before another begins.
    abort.signal.addEventListener('abort', () => failed(abort.signal.reason))
  }

  /** What was read may be such that it cannot be compared or put to use; that is a read that failed, and no more. */
  #taken(tools: T, why: Why): void {
    try {
      this.#found(tools, why)
    } catch (error) {
      if (!this.#isClosed()) this.#failed(error)
    }
  }

  #found(tools: T, { isNoticed, isAsked }: Why): void {
    const { clock, differs } = this.#options
    this.#lastLook = clock.now()
    this.#attempt = 0
    const isChanged = differs(tools)
    if (isNoticed) this.#busyLooks += 1
    if (isChanged) this.#idleLooks = 0
    else if (isNoticed) this.#idleLooks += 1
    if (isChanged) this.#hold(tools)
    else this.#drop()
    if (isAsked) this.#release()
    else if (!this.#isDirty) this.#releaseWhenQuiet()
    if (!this.#isClosed()) this.#options.found?.(tools)
    if (this.#isClosed()) return
    this.#state = 'idle'
    if (this.#asking.length > 0) this.#read(false)
    else if (this.#isDirty) {
      this.#firstNotice = this.#lastLook
      this.#next()
    } else if (this.#held === undefined) this.#rest()
  }

  /** A burst that outlasted the wait for its end may go on: then this was a part of it. */
  #releaseWhenQuiet(): void {
    const { clock } = this.#options
    const goesOnForMs = this.#notices > 1 ? this.#lastNotice + this.#pace.quietMs - clock.now() : 0
    if (goesOnForMs <= 0 || this.#held === undefined) {
      this.#release()
      return
    }
    const held = this.#held
    clock.after(goesOnForMs, () => {
      if (this.#held === held && !this.#isDirty) this.#release()
    })
  }

  #rest(): void {
    this.#begun = undefined
    this.#reads = 0
    this.#notices = 0
  }

  /** Looks soon; later and later at an upstream that never comes to rest. */
  #next(quietMs = this.#pace.quietMs): void {
    const { delayMs } = this
    if (delayMs === 0) {
      this.#later('settling', quietMs)
      return
    }
    if (!this.#isRestless) this.#options.throttled(delayMs)
    this.#isRestless = true
    if (!this.#isClosed()) this.#later('waiting', delayMs)
  }

  #failed(error: unknown): void {
    this.#release()
    const { initialRetryMs, maxRetryMs } = this.#pace
    this.#attempt += 1
    const delay = Math.min(maxRetryMs, initialRetryMs * 2 ** (this.#attempt - 1)) * (0.5 + this.#options.random())
    this.#options.failed(error, this.#attempt, delay)
    if (this.#isClosed()) return
    this.#state = 'idle'
    if (this.#asking.length > 0) this.#read(false)
    else this.#later('waiting', delay)
  }

  #later(state: 'settling' | 'waiting', ms: number): void {
    this.#cancel()
    this.#state = state
    this.#cancel = this.#options.clock.after(ms, () => this.#read(this.#isDirty))
  }

  /** Whoever is told something may end it. */
  #isClosed(): boolean {
    return this.#state === 'closed'
  }

  #hold(tools: T): void {
    const letGo = this.#held?.letGo ?? this.#options.clock.after(this.#pace.maxHoldMs, () => this.#release())
    this.#held = { tools, letGo }
  }

  #drop(): void {
    this.#held?.letGo()
    this.#held = undefined
  }

  #release(): void {
    const held = this.#held
    if (held === undefined) return
    this.#drop()
    const now = this.#options.clock.now()
    const work = { reads: this.#reads, ms: now - (this.#begun ?? now) }
    this.#rest()
    if (this.#isDirty) this.#begun = now
    this.#options.publish(held.tools, work)
  }
}

const closed = (): Error => new Error('It is no longer followed.')
