import type { Call } from '../calling/call.ts'

// Hosts give up after about 60 seconds without progress.
const everyMs = 15_000

/** Keeps a host waiting while a person decides, if it asked for progress. Returns the function that stops it. */
export function reportWaiting({ meta, client }: Call, calls: number): () => void {
  const progressToken = meta?.progressToken
  if (progressToken === undefined || client === undefined) return () => undefined
  let steps = 0
  const timer = setInterval(() => {
    // Progress must increase, and stay below that of the next call.
    const progress = calls + 1 - 1 / ++steps / 2
    const params = { progressToken, progress, message: 'waiting for confirmation' }
    client.notify('notifications/progress', params).catch(() => undefined)
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
