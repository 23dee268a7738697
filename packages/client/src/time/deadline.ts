import { cancelled, timedOut } from '../errors/errors.ts'
import { type Clock, systemClock } from './clock.ts'

export interface Deadline {
  /** Operation, as the beginning of a sentence. */
  readonly what: string
  /** What to do after a timeout. */
  readonly hint: string
  readonly timeoutMs: number
  /** First phase with its own timeout; `timeoutMs` starts when it is over. */
  readonly first?: { readonly over: Promise<unknown>; readonly timeoutMs: number } | undefined
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock
  /** Called on timeout or cancellation. */
  readonly giveUp?: () => void
}

/** Awaits `promise`; rejects on timeout or cancellation. */
export async function withDeadline<T>(promise: Promise<T>, deadline: Deadline): Promise<T> {
  const { what, hint, timeoutMs, first, signal, clock = systemClock, giveUp } = deadline
  let off: () => void = () => undefined
  let abort: () => void = () => undefined
  let isSettled = false
  const late = new Promise<never>((_, reject) => {
    const allow = (ms: number): void => {
      off()
      if (!isSettled) off = clock.after(ms, () => reject(timedOut(what, ms, hint)))
    }
    allow(first?.timeoutMs ?? timeoutMs)
    void first?.over.then(() => allow(timeoutMs))
    abort = () => reject(cancelled(what, signal?.reason))
    if (signal?.aborted === true) abort()
    signal?.addEventListener('abort', abort)
  })
  // The loser of the race must not cause an unhandled rejection.
  late.catch(() => undefined)
  promise.catch(() => undefined)
  let isFulfilled = false
  try {
    const value = await Promise.race([promise, late])
    isFulfilled = true
    return value
  } finally {
    isSettled = true
    off()
    signal?.removeEventListener('abort', abort)
    if (!isFulfilled) giveUp?.()
  }
}
