const statuses = new Set([429, 503])
// A wrong date or a mistake must not disconnect a server for days.
const maxMs = 3_600_000

/** Returns the pause that a response with 429 or 503 requests: seconds, or the time until a date. */
export function retryAfterMs({ status, headers }: Response, wallTime: number): number | undefined {
  const value = statuses.has(status) ? headers.get('retry-after')?.trim() : undefined
  if (value === undefined) return undefined
  // `Date.parse` accepts almost anything; HTTP dates begin with the day of the week.
  const ms = /^\d+$/u.test(value) ? Number(value) * 1_000 : /^[a-z]{3}/iu.test(value) ? Date.parse(value) - wallTime : Number.NaN
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), maxMs)
}
