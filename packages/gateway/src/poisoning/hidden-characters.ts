import { type Finding, findingOf } from './finding.ts'
import { isOrdinary } from './ordinary-text.ts'
import type { TextPart } from './text-parts.ts'

// Terminal escapes, bidi overrides, and tag characters outside flag emoji.
const [esc, csi] = ['\u001b', '\u009b']
const block = String.raw`\u{E0000}-\u{E007E}`
const suspicious = new RegExp(String.raw`[${esc}${csi}\u{202D}\u{202E}]|(?<![\u{1F3F4}${block}])[${block}]{4}|[${block}]{8}`, 'u')
// A single one may be a leftover from copying; a run of them encodes a message.
const runs = /(?:[\u{200B}-\u{200F}\u{2060}-\u{2064}\u{FEFF}\u{180E}]){8}|[\u{FE00}-\u{FE0E}\u{E0100}-\u{E01EF}]{4}|\p{Co}{8}/u
const tags = /[\u{E0020}-\u{E007E}]/gu

/** Finds hidden characters that can encode a message. */
export function hiddenCharacterFindings(parts: readonly TextPart[]): readonly Finding[] {
  const findings: Finding[] = []
  for (const { text, path } of parts) {
    if (isOrdinary(text) || !(suspicious.test(text) || runs.test(text))) continue
    const letters = [...text.matchAll(tags)]
      .slice(0, 200)
      .map(([tag]) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe_0000))
    findings.push(
      findingOf('hidden', { path: path(), excerpt: letters.length === 0 ? escaped(text) : `hidden: ${letters.join('')}` }),
    )
  }
  return findings
}

/** Escaped excerpt from the first match on. */
function escaped(text: string): string {
  const at = Math.min(...[suspicious, runs].map((pattern) => text.search(pattern)).filter((index) => index !== -1))
  return Array.from(text.slice(Math.max(0, at - 20), at + 100))
    .map((char) =>
      /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Variation_Selector}]/u.test(char) ? `\\u{${char.codePointAt(0)?.toString(16)}}` : char,
    )
    .join('')
}
