/** Source of time and timers, injected so that tests can simulate it. */
export interface Clock {
  /** Milliseconds since an arbitrary moment; never goes back. */
  now(): number
  /** Milliseconds since 1970, for times that outlive the process. The system may set it forwards or back. */
  wallTime(): number
  /** Calls `run` once after `ms`; the function it returns cancels that. A timer with `isIdle` does not keep the process alive. */
  after(ms: number, run: () => void, isIdle?: boolean): () => void
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wallTime: () => Date.now(),
  after(ms, run, isIdle = false) {
    const timer = setTimeout(run, ms)
    if (isIdle) timer.unref()
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
