// Blocks whose characters take two columns, as first and last code points.
const wide: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
]

const ascii = /^[\x20-\x7e]*$/u
const esc = '\u001b'
const colour = new RegExp(String.raw`${esc}\[[\d;]*m`, 'gu')
const pictured = /\p{Emoji_Presentation}|\u{fe0f}/u
const marks = /^[\p{M}\p{Cf}]+$/u

let segmenter: Intl.Segmenter | undefined

/** Splits text into grapheme clusters. */
export function charactersOf(text: string): readonly string[] {
  if (ascii.test(text)) return Array.from(text)
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** Number of terminal columns that a line of safe text takes. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length
  return charactersOf(text.replace(colour, '')).reduce((sum, character) => sum + characterWidth(character), 0)
}

function characterWidth(character: string): number {
  if (ascii.test(character)) return character.length
  if (pictured.test(character)) return 2
  if (marks.test(character)) return 0
  const code = character.codePointAt(0) ?? 0
  return wide.some(([first, last]) => code >= first && code <= last) ? 2 : 1
}
