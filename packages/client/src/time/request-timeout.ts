import type { Progress } from '@modelcontextprotocol/client'
import { type ClientError, cancelled, timedOut } from '../errors/errors.ts'
import type { Clock } from './clock.ts'

export interface Timing {
  /** How long nothing may be heard of it: each report of progress begins it anew, and a question to a person stops it. */
  readonly timeoutMs?: number | undefined
  /** How long it may take in all, whatever is reported. */
  readonly maxTimeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export interface Timed extends Timing {
  /** What is done, as the beginning of a sentence. */
  readonly what: string
  readonly clock: Clock
  /** Whether somebody is being asked: nobody should run out of time over that. */
  readonly isAsking: () => boolean
  /** An error of whatever is done, as one of ours. */
  readonly translated: (error: unknown, what: string) => ClientError
}

/** What the SDK is told, so that it does not end a request before we do. */
export interface SendOptions {
  readonly signal: AbortSignal
  readonly timeout: number
  readonly onprogress: (progress: Progress) => void
}

const defaultTimeoutMs = 60_000
const defaultMaxMs = 600_000
// What a timer can hold, with room for the one that the SDK sets for itself.
const longestMs = 2 ** 31 - 100_000

/** What to do when it took too long. */
export const timeoutWords = {
  inAll: 'Allow more in all with maxTimeoutMs.',
  idle: 'Nothing was heard of it; allow more time with timeoutMs.',
} as const

/** How long nothing may be heard, and how long it may take in all. */
export function limitsOf(timing: Timing): { readonly timeoutMs: number; readonly maxMs: number } {
  const timeoutMs = Math.min(timing.timeoutMs ?? defaultTimeoutMs, longestMs)
  return { timeoutMs, maxMs: Math.min(timing.maxTimeoutMs ?? Math.max(defaultMaxMs, timeoutMs), longestMs) }
}

/** Sends a request and waits for its answer, for as long as there are signs of life. */
export async function timed<T>(timing: Timed, send: (options: SendOptions) => Promise<T>): Promise<T> {
  const { what, clock, signal, onProgress, isAsking, translated } = timing
  const { timeoutMs, maxMs } = limitsOf(timing)
  const stop = new AbortController()
  let failure: ClientError | undefined
  const end = (reason: ClientError): void => {
    failure ??= reason
    stop.abort(reason.message)
  }
  const abort = (): void => end(cancelled(what, signal?.reason))
  if (signal?.aborted === true) throw cancelled(what, signal.reason)
  signal?.addEventListener('abort', abort)
  const offMax = clock.after(maxMs, () => end(timedOut(what, maxMs, timeoutWords.inAll)))
  let offIdle: () => void = () => undefined
  const arm = (): void => {
    offIdle()
    offIdle = clock.after(timeoutMs, () => {
      if (isAsking()) arm()
      else end(timedOut(what, timeoutMs, timeoutWords.idle))
    })
  }
  arm()
  const onprogress = (progress: Progress): void => {
    arm()
    onProgress?.(progress)
  }
  try {
    // Ours come first.
    return await send({ signal: stop.signal, timeout: maxMs + 60_000, onprogress })
  } catch (error) {
    throw failure ?? translated(error, what)
  } finally {
    offIdle()
    offMax()
    signal?.removeEventListener('abort', abort)
  }
}
