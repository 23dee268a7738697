const names = new Set(['at', 'startedAt', 'openedAt', 'closedAt', 'lastMessageAt', 'measuredAt', 'baselineAt'])
const latest = 8.64e15

/** Replaces timestamps with ISO 8601 text. */
export function withTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTimes)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      typeof each === 'number' && names.has(name) && Math.abs(each) <= latest ? new Date(each).toISOString() : withTimes(each),
    ]),
  )
}
