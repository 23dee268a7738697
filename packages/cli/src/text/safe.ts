export interface SafeTextOptions {
  /** Keeps line breaks; otherwise the text becomes one line. */
  readonly lines?: boolean
  /** Maximum number of characters; a longer text ends in an ellipsis. */
  readonly limit?: number
}

// Colours are dropped. Every other escape sequence stays visible, because it may hide text.
const [esc, csi] = ['\u001b', '\u009b']
const colours = new RegExp(String.raw`(?:${esc}\[|${csi})[\d;:]*m`, 'gu')
const lineEnd = /\r\n|[\v\f\u0085\u2028\u2029]/gu
const blank = /[\t\n]+/gu
// Emoji need joiners and selectors that are escaped everywhere else.
const picture = String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}]\u{fe0f}?`
// Control, format, private and unpaired characters, and those that draw nothing, such as fillers and variation selectors.
const unseen = String.raw`(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u{2800}]`
// Compiled on first use: most text is plain, and compiling takes longer than checking plain text.
let pictureOrUnseen: RegExp | undefined
const plain = /^[ -~]*$/u
// More combining marks than any language uses would spill over adjacent lines.
const pile = /(\p{M}{8})\p{M}+/gu

/**
 * Makes text from a server safe for a terminal: characters that move the cursor, change the screen, reorder the line or are
 * invisible are escaped as `\u{1b}`; colours are dropped. Idempotent; plain text is unchanged.
 */
export function safeText(text: string, { lines = false, limit = Number.POSITIVE_INFINITY }: SafeTextOptions = {}): string {
  // Cut first, with room for dropped characters: a server may send megabytes.
  const isLong = text.length > limit * 4 + 100
  const start = isLong ? text.slice(0, limit * 4 + 100) : text
  const broken = start.replace(colours, '').replace(lineEnd, '\n')
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
