/** Moves an index that would split a surrogate pair to the start of the pair. */
export const characterStart = (text: string, at: number): number =>
  /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at

/**
 * Returns the end of the page that starts at `from`: at most `limit` characters, preferably at a line break in the second half,
 * never inside a surrogate pair. A page is never empty, so reading page by page terminates.
 */
export function partEnd(text: string, from: number, limit: number): number {
  const end = from + limit
  if (end >= text.length) return text.length
  const line = text.lastIndexOf('\n', end - 1) + 1
  if (line > from + limit / 2) return line
  const boundary = characterStart(text, end)
  return boundary > from ? boundary : end + 1
}
