import { cancelled, timedOut } from '../errors/errors.ts'
import { type Clock, systemClock } from './clock.ts'

export interface Deadline {
  /** What is waited for, as the beginning of a sentence. */
  readonly what: string
  /** What to do when it does not come. */
  readonly hint: string
  readonly timeoutMs: number
  /** What comes before it and has time of its own: the time of the rest begins when that is over. */
  readonly first?: { readonly over: Promise<unknown>; readonly timeoutMs: number } | undefined
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock
  /** Called when nobody waits any more. */
  readonly giveUp?: () => void
}

/** The same promise, unless it takes too long or is called off. */
export async function before<T>(promise: Promise<T>, deadline: Deadline): Promise<T> {
  const { what, hint, timeoutMs, first, signal, clock = systemClock, giveUp } = deadline
  let off: () => void = () => undefined
  let abort: () => void = () => undefined
  let isOver = false
  const late = new Promise<never>((_, reject) => {
    const allow = (ms: number): void => {
      off()
      if (!isOver) off = clock.after(ms, () => reject(timedOut(what, ms, hint)))
    }
    allow(first?.timeoutMs ?? timeoutMs)
    void first?.over.then(() => allow(timeoutMs))
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
    isOver = true
    off()
    signal?.removeEventListener('abort', abort)
    if (!isIn) giveUp?.()
  }
}
