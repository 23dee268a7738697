import type { Progress } from '@modelcontextprotocol/client'
import { type ClientError, cancelled, timedOut } from '../errors/errors.ts'
import type { Clock } from './clock.ts'

export interface TimeoutOptions {
  /** Maximum time without progress; suspended while the user is being asked. Default: 60 000. */
  readonly timeoutMs?: number | undefined
  /** Maximum total time. Default: 600 000, or `timeoutMs` if that is longer. */
  readonly maxTimeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export interface RequestTimeout extends TimeoutOptions {
  /** Operation, as the beginning of a sentence. */
  readonly what: string
  readonly clock: Clock
  readonly isWaitingForUser: () => boolean
  readonly toClientError: (error: unknown, what: string) => ClientError
}

/** Options for the SDK, chosen so that its own timeout never comes first. */
export interface SendOptions {
  readonly signal: AbortSignal
  readonly timeout: number
  readonly onprogress: (progress: Progress) => void
}

const defaultTimeoutMs = 60_000
const defaultMaxMs = 600_000
// Longest delay of a timer, minus room for that of the SDK.
const maxDelayMs = 2 ** 31 - 100_000

export const timeoutHints = {
  total: 'Increase maxTimeoutMs.',
  idle: 'No progress was reported; increase timeoutMs.',
} as const

export function timeoutLimits(timing: TimeoutOptions): { readonly timeoutMs: number; readonly maxMs: number } {
  const timeoutMs = Math.min(timing.timeoutMs ?? defaultTimeoutMs, maxDelayMs)
  return { timeoutMs, maxMs: Math.min(timing.maxTimeoutMs ?? Math.max(defaultMaxMs, timeoutMs), maxDelayMs) }
}

/** Sends a request and waits for the response. Progress restarts the timeout. */
export async function withRequestTimeout<T>(timing: RequestTimeout, send: (options: SendOptions) => Promise<T>): Promise<T> {
  const { what, clock, signal, onProgress, isWaitingForUser, toClientError } = timing
  const { timeoutMs, maxMs } = timeoutLimits(timing)
  const stop = new AbortController()
  let failure: ClientError | undefined
  const end = (reason: ClientError): void => {
    failure ??= reason
    stop.abort(reason.message)
  }
  const abort = (): void => end(cancelled(what, signal?.reason))
  if (signal?.aborted === true) throw cancelled(what, signal.reason)
  signal?.addEventListener('abort', abort)
  const offMax = clock.after(maxMs, () => end(timedOut(what, maxMs, timeoutHints.total)))
  let offIdle: () => void = () => undefined
  const arm = (): void => {
    offIdle()
    offIdle = clock.after(timeoutMs, () => {
      if (isWaitingForUser()) arm()
      else end(timedOut(what, timeoutMs, timeoutHints.idle))
    })
  }
  arm()
  const onprogress = (progress: Progress): void => {
    arm()
    onProgress?.(progress)
  }
  try {
    return await send({ signal: stop.signal, timeout: maxMs + 60_000, onprogress })
  } catch (error) {
    throw failure ?? toClientError(error, what)
  } finally {
    offIdle()
    offMax()
    signal?.removeEventListener('abort', abort)
  }
}
