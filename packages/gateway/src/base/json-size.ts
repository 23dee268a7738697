/** About how many characters a value takes as JSON; it stops counting when there are more than `limit`. */
export function sizeOf(value: unknown, limit = Number.POSITIVE_INFINITY): number {
  let size = 0
  // A list of what is left rather than recursion, because how deep it goes is the server's choice.
  const left: unknown[] = [value]
  while (left.length > 0 && size <= limit) {
    const next = left.pop()
    if (typeof next === 'string') size += next.length + 2
    else if (typeof next !== 'object' || next === null) size += 4
    else if (Array.isArray(next)) {
      size += next.length
      if (size <= limit) for (const member of next) left.push(member)
    } else
      for (const key in next) {
        size += key.length + 4
        if (size > limit) break
        left.push((next as Readonly<Record<string, unknown>>)[key])
      }
  }
  return size
}
