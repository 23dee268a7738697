const statuses = new Set([429, 503])
// A wrong date or a mistake must not disconnect a server for days.
const maxMs = 3_600_000

/** Returns the pause that a response with 429 or 503 requests: seconds, or the time until a date. */
export function retryAfterMs({ status, headers }: Response, wallTime: number): number | undefined {
  const value = statuses.has(status) ? headers.get('retry-after')?.trim() : undefined
  if (value === undefined || value === '') return undefined
  const ms = /^\d+$/u.test(value) ? Number(value) * 1_000 : Date.parse(value) - wallTime
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), maxMs)
}
