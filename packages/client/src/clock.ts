/** Time, given from outside so that it can be another's. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls `run` once, after `ms`; what it returns calls that off. A timer keeps no process alive when `idle` is true. */
  after(ms: number, run: () => void, idle?: boolean): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run, idle = false) {
    const timer = setTimeout(run, ms)
    if (idle) timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Resolves after `ms`, or at once when `signal` is aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve()
      return
    }
    const done = (): void => {
      off()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const off = clock.after(ms, done)
    signal.addEventListener('abort', done)
  })
}
