export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/** Resolves with the result of `work`; rejects and aborts its signal after `ms`, or when `cancelled` fires. */
export async function withTimeout<T>(
  ms: number,
  cancelled: AbortSignal | undefined,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const cancel = (): void => controller.abort(cancelled?.reason)
  const timer = setTimeout(() => controller.abort(new TimeoutError(`Timed out after ${ms} ms.`)), ms)
  cancelled?.addEventListener('abort', cancel, { once: true })
  if (cancelled?.aborted === true) cancel()
  try {
    signal.throwIfAborted()
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    })
    return await Promise.race([work(signal), aborted])
  } finally {
    clearTimeout(timer)
    cancelled?.removeEventListener('abort', cancel)
  }
}
