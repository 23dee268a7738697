/** Truncates a text to `maxBytes` of UTF-8. */
export function cut(text: string, maxBytes: number): { readonly text: string; readonly isCut: boolean } {
  // A UTF-16 code unit takes at most three bytes.
  if (text.length * 3 <= maxBytes) return { text, isCut: false }
  const bytes = Buffer.from(text.slice(0, maxBytes).replace(/[\ud800-\udbff]$/, ''))
  if (bytes.length <= maxBytes && text.length <= maxBytes) return { text, isCut: false }
  let end = Math.min(maxBytes, bytes.length)
  // Not inside a character: continuation bytes begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  // Copied from bytes: a slice would keep the whole text in memory.
  return { text: bytes.toString('utf8', 0, end), isCut: true }
}

/** Truncates a text and appends an ellipsis. */
export function shortened(text: string, maxBytes: number): string {
  const { text: beginning, isCut } = cut(text, maxBytes)
  return isCut ? `${beginning}…` : beginning
}
