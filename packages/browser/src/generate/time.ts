// Years with four digits: others use an uncommon format.
const latest = Date.UTC(9999, 11, 31)

/** Formats a time as ISO 8601; invalid times become the earliest one. */
export function isoTime(at: number): string {
  return new Date(at >= 0 && at <= latest ? at : 0).toISOString()
}

/** Parses a date header; `undefined` if it is invalid. */
export function isoDate(date: string): string | undefined {
  const at = Date.parse(date)
  return at >= 0 && at <= latest ? isoTime(at) : undefined
}
