import { type Finding, findingOf } from './finding.ts'
import type { TextPart } from './text-parts.ts'

const plain = /^[\n\r\t -~]*$/u
// Escapes for a terminal, marks that turn the direction of text, and letters of the tag block, which flags alone need.
const [esc, csi] = ['\u001b', '\u009b']
const block = String.raw`\u{E0000}-\u{E007E}`
const telling = new RegExp(String.raw`[${esc}${csi}\u{202D}\u{202E}]|(?<![\u{1F3F4}${block}])[${block}]{4}|[${block}]{8}`, 'u')
// One may be left over from copying; so many in a row are a message.
const runs = /(?:[\u{200B}-\u{200F}\u{2060}-\u{2064}\u{FEFF}\u{180E}]){8}|[\u{FE00}-\u{FE0E}\u{E0100}-\u{E01EF}]{4}|\p{Co}{8}/u
const tags = /[\u{E0020}-\u{E007E}]/gu

/** Where a text holds characters that nobody sees and that say something. Few that say nothing are not told of. */
export function hiddenCharacterFindings(surfaces: readonly TextPart[]): readonly Finding[] {
  const found: Finding[] = []
  for (const { text, path } of surfaces) {
    if (plain.test(text) || !(telling.test(text) || runs.test(text))) continue
    const letters = [...text.matchAll(tags)]
      .slice(0, 200)
      .map(([tag]) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe_0000))
    found.push(
      findingOf('hidden', { surface: path(), excerpt: letters.length === 0 ? escaped(text) : `hidden: ${letters.join('')}` }),
    )
  }
  return found
}

/** The text from the first of them on. */
function escaped(text: string): string {
  const at = Math.min(...[telling, runs].map((pattern) => text.search(pattern)).filter((place) => place !== -1))
  return Array.from(text.slice(Math.max(0, at - 20), at + 100))
    .map((char) =>
      /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Variation_Selector}]/u.test(char) ? `\\u{${char.codePointAt(0)?.toString(16)}}` : char,
    )
    .join('')
}
