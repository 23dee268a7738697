/** How a string begins and ends: `"` has no escapes, `\"` within a string has one, `\\\"` within that has three. */
export interface Quote {
  readonly mark: string
  readonly escapes: number
}

const opening = /(\\{0,64})(["'`])/y

/** The quote that begins here, if one does. */
export function quoteAt(text: string, at: number): Quote | undefined {
  const char = text[at]
  if (char !== '"' && char !== "'" && char !== '`' && char !== '\\') return undefined
  opening.lastIndex = at
  const [, escapes, mark] = opening.exec(text) ?? []
  return escapes === undefined || mark === undefined ? undefined : { mark, escapes: escapes.length }
}

/** Where the string that has its first character at `from` ends, before its closing quote; the end of a text that was cut. */
export function endOfString(text: string, from: number, { mark, escapes }: Quote): number {
  const levels = levelsOf(escapes)
  for (let at = text.indexOf(mark, from); at !== -1; at = text.indexOf(mark, at + 1)) {
    let first = at
    while (first > from && text[first - 1] === '\\') first--
    if (isClosing(at - first, levels)) return levels === 0 ? at : Math.max(from, at - escapes)
  }
  return text.length
}

/** How many strings are around one whose quotes have so many escapes: each level doubles them and adds one. */
function levelsOf(escapes: number): number {
  let levels = 0
  for (let rest = escapes; rest % 2 === 1; rest = (rest - 1) / 2) levels++
  return levels
}

/** Whether a quote after so many backslashes ends a string of that level, or one around it. */
function isClosing(backslashes: number, levels: number): boolean {
  let rest = backslashes
  for (let level = 0; level < levels; level++) {
    if (rest % 2 === 0) return true
    rest = (rest - 1) / 2
  }
  return rest % 2 === 0
}
