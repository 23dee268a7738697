// Years of four digits: others are written in a way that few readers know.
const latest = Date.UTC(9999, 11, 31)

/** A time as ISO 8601 writes it; the earliest there is for one that makes no sense. */
export function isoTime(at: number): string {
  return new Date(at >= 0 && at <= latest ? at : 0).toISOString()
}

/** A date from a header; nothing when it is none. */
export function isoDate(date: string): string | undefined {
  const at = Date.parse(date)
  return at >= 0 && at <= latest ? isoTime(at) : undefined
}
