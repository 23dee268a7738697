/** Thrown when work took longer than it may. */
export class Late extends Error {
  override readonly name = 'Late'
}

/** What `work` gives, unless its time is over or `cancelled` fires first; its signal then fires, and what it still gives is ignored. */
export async function within<T>(
  ms: number,
  cancelled: AbortSignal | undefined,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const cancel = (): void => controller.abort(cancelled?.reason)
  const timer = setTimeout(() => controller.abort(new Late(`No answer within ${ms} ms.`)), ms)
  cancelled?.addEventListener('abort', cancel, { once: true })
  if (cancelled?.aborted === true) cancel()
  try {
    const over = new Promise<never>((_, reject) => {
      const end = (): void => reject(signal.reason as Error)
      if (signal.aborted) end()
      else signal.addEventListener('abort', end, { once: true })
    })
    const result = signal.aborted ? over : work(signal)
    return await Promise.race([result, over])
  } finally {
    clearTimeout(timer)
    cancelled?.removeEventListener('abort', cancel)
  }
}
