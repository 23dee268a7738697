/** Formats as many of the newest values as fit into `limit`; at least one. */
export function fitNewest<T>(values: readonly T[], limit: number, make: (kept: readonly T[], leftOut: number) => string): string {
  for (let count = values.length; ; count = Math.floor(count / 2)) {
    const kept = values.slice(values.length - count)
    const text = make(kept, values.length - kept.length)
    if (text.length <= limit || count <= 1) return text
  }
}
