/** How long calls that run may take to finish when a gateway ends. */
export const defaultDrainMs = 10_000

/** Waits for `done`, but not longer than so many milliseconds, and not once `hurry` is aborted. Says whether it was done. */
export async function settledWithin(done: Promise<unknown>, withinMs: number, hurry: AbortSignal): Promise<boolean> {
  if (hurry.aborted) return false
  return new Promise((resolve) => {
    const settle = (isDone: boolean) => (): void => {
      clearTimeout(late)
      hurry.removeEventListener('abort', impatient)
      resolve(isDone)
    }
    const impatient = settle(false)
    const late = setTimeout(settle(false), withinMs)
    hurry.addEventListener('abort', impatient)
    done.then(settle(true), settle(true))
  })
}
