/** Time, as it comes from outside: a test plays it. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number
  /** Calls `work` after so many milliseconds, unless it is cancelled. What waits keeps no process alive when `isIdle` is true. */
  after(ms: number, work: () => void, isIdle?: boolean): () => void
}

/** The clock of this process. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, work, isIdle = false) {
    const timer = setTimeout(work, ms)
    if (isIdle) timer.unref()
    return () => clearTimeout(timer)
  },
}
