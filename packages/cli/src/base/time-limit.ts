/** A signal with an end of its own. */
export interface TimeLimit extends Disposable {
  readonly signal: AbortSignal
}

/**
 * A signal that is aborted after so many milliseconds, or with one of these, until it is disposed of. Node 20 may collect an
 * `AbortSignal.timeout` that only `AbortSignal.any` knows of, and a wait for it would have no end.
 */
export function timeLimit(ms: number, signals: readonly (AbortSignal | null | undefined)[]): TimeLimit {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new DOMException('The time is up.', 'TimeoutError')), ms)
  const given = signals.filter((signal) => signal !== undefined && signal !== null)
  const ends = given.map((signal) => {
    const end = (): void => controller.abort(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
    return () => signal.removeEventListener('abort', end)
  })
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer)
      for (const end of ends) end()
    },
  }
}
