import { type Clock, systemClock } from './clock.ts'
import { cancelled, timedOut } from './errors.ts'

export interface Deadline {
  /** What is waited for, as the beginning of a sentence. */
  readonly what: string
  /** What to do when it does not come. */
  readonly hint: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock
  /** Called when nobody waits any more. */
  readonly giveUp?: () => void
}

/** The same promise, unless it takes too long or is called off. */
export async function before<T>(promise: Promise<T>, deadline: Deadline): Promise<T> {
  const { what, hint, timeoutMs, signal, clock = systemClock, giveUp } = deadline
  let off: () => void = () => undefined
  let abort: () => void = () => undefined
  const late = new Promise<never>((_, reject) => {
    off = clock.after(timeoutMs, () => reject(timedOut(what, timeoutMs, hint)))
    abort = () => reject(cancelled(what, signal?.reason))
    if (signal?.aborted === true) abort()
    signal?.addEventListener('abort', abort)
  })
  // Whichever comes second is nobody's concern.
  late.catch(() => undefined)
  promise.catch(() => undefined)
  let isIn = false
  try {
    const value = await Promise.race([promise, late])
    isIn = true
    return value
  } finally {
    off()
    signal?.removeEventListener('abort', abort)
    if (!isIn) giveUp?.()
  }
}
