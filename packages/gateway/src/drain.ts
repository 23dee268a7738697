import { setTimeout as pause } from 'node:timers/promises'

/** Default time for running calls to finish when the gateway shuts down. */
export const defaultDrainMs = 10_000

/** Waits until `work` settles, the time is up, or `signal` is aborted. */
export async function settledWithin(work: Promise<unknown>, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const settled = new AbortController()
  const timeUp = pause(timeoutMs, undefined, { signal: AbortSignal.any([signal, settled.signal]) })
  await Promise.race([work, timeUp]).catch(() => undefined)
  settled.abort()
}
