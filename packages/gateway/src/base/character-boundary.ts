/** Whether a character of two halves lies across this place. */
const isInside = (text: string, at: number): boolean =>
  /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at))

/** This place, or the beginning of the character that lies across it. */
export const characterStart = (text: string, at: number): number => (isInside(text, at) ? at - 1 : at)

/**
 * Where a part of the text ends that begins at `from`: after at most `limit` characters, at the end of a line where one is in
 * its second half, and never inside a character. There is always something in it, so that whoever reads on comes to the end.
 */
export function partEnd(text: string, from: number, limit: number): number {
  const end = from + limit
  if (end >= text.length) return text.length
  const line = text.lastIndexOf('\n', end - 1) + 1
  if (line > from + limit / 2) return line
  const whole = characterStart(text, end)
  return whole > from ? whole : end + 1
}
