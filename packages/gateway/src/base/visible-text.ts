// Invisible to people but read by models: control characters, bidi marks, zero-width characters, tags, private-use characters and
// variation selectors. Joiners stay because emoji and many scripts need them.
const hidden = /(?![\n\r\t]|\u{200C}|\u{200D}|\u{FE0F})[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Variation_Selector}]/gu

export const hasHiddenCharacters = (text: string): boolean => text.search(hidden) !== -1

export const stripHiddenCharacters = (text: string): string => text.replaceAll(hidden, '')

/** Shortens a text to one line of at most `limit` characters, at the end of a sentence or word if possible. */
export function shorten(text: string, limit: number): string {
  // Bounds the work for any input length.
  const line = stripHiddenCharacters(text.slice(0, limit * 4))
    .replaceAll(/\s+/gu, ' ')
    .trim()
  if (line.length <= limit) return line
  const cut = line.slice(0, limit - 1)
  const sentence = cut.search(/[.!?](?=\s[^.!?]*$)/u)
  if (sentence > limit / 2) return cut.slice(0, sentence + 1)
  const word = cut.lastIndexOf(' ')
  return `${cut.slice(0, word > limit / 2 ? word : cut.length).replace(/[\uD800-\uDBFF]$/u, '')}…`
}
