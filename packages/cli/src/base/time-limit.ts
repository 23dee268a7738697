export interface TimeLimit extends Disposable {
  readonly signal: AbortSignal
}

/**
 * Signal that aborts after `ms` milliseconds or together with any of `signals`. Node 20 may garbage-collect an
 * `AbortSignal.timeout` that only `AbortSignal.any` refers to, and then it never fires.
 */
export function timeLimit(ms: number, signals: readonly (AbortSignal | null | undefined)[]): TimeLimit {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new DOMException('Timed out.', 'TimeoutError')), ms)
  const cleanups = signals
    .filter((signal) => signal !== undefined && signal !== null)
    .map((signal) => {
      const abort = (): void => controller.abort(signal.reason)
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
      return () => signal.removeEventListener('abort', abort)
    })
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer)
      for (const cleanup of cleanups) cleanup()
    },
  }
}
