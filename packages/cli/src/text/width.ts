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
// Our own colours take no room.
const esc = '\u001b'
const colour = new RegExp(String.raw`${esc}\[[\d;]*m`, 'gu')
const pictured = /\p{Emoji_Presentation}|\u{fe0f}/u
const marks = /^[\p{M}\p{Cf}]+$/u

let segmenter: Intl.Segmenter | undefined

/** The characters of a text as a reader sees them: letters with their marks, emoji with their parts. */
export function charactersOf(text: string): readonly string[] {
  if (ascii.test(text)) return Array.from(text)
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** How many columns a line of safe text takes in a terminal. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length
  return charactersOf(text.replace(colour, '')).reduce((sum, character) => sum + characterWidth(character), 0)
}

/** How many columns one character takes. */
function characterWidth(character: string): number {
  if (ascii.test(character)) return character.length
  if (pictured.test(character)) return 2
  if (marks.test(character)) return 0
  const code = character.codePointAt(0) ?? 0
  return wide.some(([first, last]) => code >= first && code <= last) ? 2 : 1
}
