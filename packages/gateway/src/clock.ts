/** Time, as it comes from outside: a test plays it. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number
  /** Calls `work` after so many milliseconds, unless it is cancelled. */
  after(ms: number, work: () => void): () => void
}

/** The clock of this process. What waits on it keeps no process alive. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
