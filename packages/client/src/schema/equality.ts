import { isRecord, type Meter } from '@unfold-mcp/core'

/** Deep equality of two JSON values; the order of keys does not matter. */
export function isEqual(a: unknown, b: unknown, meter: Meter, depth = 0): boolean {
  meter.enter(depth)
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index], meter, depth + 1))
  if (!isRecord(a) || !isRecord(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key], meter, depth + 1))
  )
}
