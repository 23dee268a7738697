// What nobody sees and a model still reads: control characters, marks that turn the direction of text, characters without
// width, letters of the tag block, private characters, and selectors that can carry a message. Joiners stay: emoji and many
// scripts need them.
const hidden = /(?![\n\r\t]|\u{200C}|\u{200D}|\u{FE0F})[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Variation_Selector}]/gu

/** Whether a text holds characters that nobody sees. */
export const hasHiddenCharacters = (text: string): boolean => text.search(hidden) !== -1

/** The text without characters that nobody sees. */
export const stripHiddenCharacters = (text: string): string => text.replaceAll(hidden, '')

/** At most `limit` characters on one line, cut at the end of a sentence or word where there is one. */
export function shorten(text: string, limit: number): string {
  // Far more than is kept; so the work is bounded whatever was sent.
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
