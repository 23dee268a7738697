export interface SafeTextOptions {
  /** Keep line breaks (and tabs, as spaces). Without it the text becomes one line. */
  readonly lines?: boolean
  /** The most characters to keep; a longer text ends in an ellipsis. */
  readonly limit?: number
}

// Colours say nothing that is lost without them. Every other escape sequence stays visible, as it may hide words.
const [esc, csi] = ['\u001b', '\u009b']
const colours = new RegExp(String.raw`(?:${esc}\[|${csi})[\d;:]*m`, 'gu')
const lineEnd = /\r\n|[\v\f\u0085\u2028\u2029]/gu
const blank = /[\t\n]+/gu
// Emoji are joined and coloured by characters that hide something everywhere else.
const picture = String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}]\u{fe0f}?`
// Control, format, private and unpaired characters, and those that draw nothing, such as fillers and variation selectors.
const unseen = String.raw`(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2800}]`
// Made when it is first needed: most text is plain, and these sets take longer to build than such text to check.
let pictureOrUnseen: RegExp | undefined
const plain = /^[ -~]*$/u
// More marks on one letter than any language uses spill over the lines above and below.
const pile = /(\p{M}{8})\p{M}+/gu

/**
 * Text from a server, harmless to a terminal: nothing in it moves the cursor, changes the screen, reorders the line or stays
 * hidden. What would is shown as `\u{1b}`; colours are dropped. Plain text comes back as it was, and a safe text stays the same.
 */
export function safeText(text: string, { lines = false, limit = Number.POSITIVE_INFINITY }: SafeTextOptions = {}): string {
  // Cut first, with room for what is dropped: a server may send far more than anyone will read.
  const isLong = text.length > limit * 4 + 100
  const given = isLong ? text.slice(0, limit * 4 + 100) : text
  const broken = given.replace(colours, '').replace(lineEnd, '\n')
  const shaped = lines ? broken.replaceAll('\t', '    ') : broken.replace(blank, ' ')
  if (plain.test(shaped)) return cut(shaped, limit, isLong)
  pictureOrUnseen ??= new RegExp(String.raw`(${picture}(?:\u{200d}?${picture})*)|${unseen}`, 'gu')
  const safe = shaped.replace(pictureOrUnseen, (found, kept: string | undefined) => kept ?? escaped(found)).replace(pile, '$1')
  return cut(safe, limit, isLong)
}

function cut(text: string, limit: number, isCut: boolean): string {
  if (!isCut && text.length <= limit) return text
  return `${text.slice(0, Math.max(0, limit - 1)).replace(/[\uD800-\uDBFF]$/u, '')}…`
}

const escaped = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
