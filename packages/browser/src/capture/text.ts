/** The beginning of a text in so many bytes of UTF-8, and whether that is all of it. */
export function cut(text: string, maxBytes: number): { readonly text: string; readonly isCut: boolean } {
  // Three bytes are the most that one unit of a text can take.
  if (text.length * 3 <= maxBytes) return { text, isCut: false }
  const bytes = Buffer.from(text.slice(0, maxBytes).replace(/[\ud800-\udbff]$/, ''))
  if (bytes.length <= maxBytes && text.length <= maxBytes) return { text, isCut: false }
  let end = Math.min(maxBytes, bytes.length)
  // Not in the middle of a character: its later bytes all begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  // From bytes, not by slicing: a slice would keep the whole text in memory.
  return { text: bytes.toString('utf8', 0, end), isCut: true }
}

/** The beginning of a text, with a mark when there was more. */
export function shortened(text: string, maxBytes: number): string {
  const { text: beginning, isCut } = cut(text, maxBytes)
  return isCut ? `${beginning}…` : beginning
}
