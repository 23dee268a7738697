const defaultInitialMs = 125
const maxMs = 60_000

/** Exponential backoff with jitter. */
export function backoffMs(failures: number, random: () => number, initialMs = defaultInitialMs): number {
  return Math.min(maxMs, initialMs * 2 ** Math.min(failures - 1, 20)) * (0.5 + random())
}
