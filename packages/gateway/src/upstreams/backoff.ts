const firstMs = 125
const maxMs = 60_000

/** How long to wait before the next attempt after so many failed: at first hardly at all, then longer and longer, never all at once. */
export function backoffMs(failures: number, random: () => number, first = firstMs): number {
  return Math.min(maxMs, first * 2 ** Math.min(failures - 1, 20)) * (0.5 + random())
}
