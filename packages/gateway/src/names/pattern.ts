/** Matches a text against patterns in which `*` stands for any characters, in linear time. */
export function matcher(patterns: readonly string[]): (text: string) => boolean {
  const parts = patterns.map((pattern) => pattern.split('*'))
  return (text) => parts.some((each) => matches(each, text))
}

function matches(parts: readonly string[], text: string): boolean {
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return text === first
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (const part of rest) {
    const index = text.indexOf(part, at)
    if (index === -1 || index + part.length > end) return false
    at = index + part.length
  }
  return true
}
