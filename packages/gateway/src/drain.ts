/** Default time for running calls to finish when the gateway shuts down. */
export const defaultDrainMs = 10_000

/** Waits until `work` settles, the time is up, or `signal` is aborted. */
export async function settledWithin(work: Promise<unknown>, timeoutMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, timeoutMs)
    signal.addEventListener('abort', finish)
    work.then(finish, finish)
  })
}
