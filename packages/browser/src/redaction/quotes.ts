/** Quote with its escapes: `"` has none, `\"` within a string has one, `\\\"` within that has three. */
export interface Quote {
  readonly mark: string
  readonly escapes: number
}

const opening = /(\\{0,64})(["'`])/y

export function quoteAt(text: string, at: number): Quote | undefined {
  const char = text[at]
  if (char !== '"' && char !== "'" && char !== '`' && char !== '\\') return undefined
  opening.lastIndex = at
  const [, escapes, mark] = opening.exec(text) ?? []
  return escapes === undefined || mark === undefined ? undefined : { mark, escapes: escapes.length }
}

/** Returns the end of the string that starts at `from`, before its closing quote, or the end of a truncated text. */
export function endOfString(text: string, from: number, { mark, escapes }: Quote): number {
  const levels = levelsOf(escapes)
  for (let at = text.indexOf(mark, from); at !== -1; at = text.indexOf(mark, at + 1)) {
    let first = at
    while (first > from && text[first - 1] === '\\') first--
    if (isClosing(at - first, levels)) return levels === 0 ? at : Math.max(from, at - escapes)
  }
  return text.length
}

/** Nesting level of a quote with this many escapes: each level doubles them and adds one. */
function levelsOf(escapes: number): number {
  let levels = 0
  for (let rest = escapes; rest % 2 === 1; rest = (rest - 1) / 2) levels++
  return levels
}

/** True if a quote after this many backslashes closes a string of that level or an outer one. */
function isClosing(backslashes: number, levels: number): boolean {
  let rest = backslashes
  for (let level = 0; level < levels; level++) {
    if (rest % 2 === 0) return true
    rest = (rest - 1) / 2
  }
  return rest % 2 === 0
}
