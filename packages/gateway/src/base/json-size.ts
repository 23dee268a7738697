/** Estimates the length of a value as JSON; stops counting beyond `limit`. */
export function jsonSize(value: unknown, limit = Number.POSITIVE_INFINITY): number {
  let size = 0
  // Not recursive: the server chooses the depth.
  const pending: unknown[] = [value]
  while (pending.length > 0 && size <= limit) {
    const next = pending.pop()
    if (typeof next === 'string') size += next.length + 2
    else if (typeof next !== 'object' || next === null) size += 4
    else if (Array.isArray(next)) {
      size += next.length
      if (size <= limit) for (const member of next) pending.push(member)
    } else
      for (const key in next) {
        size += key.length + 4
        if (size > limit) break
        pending.push((next as Readonly<Record<string, unknown>>)[key])
      }
  }
  return size
}
