import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { safeText } from './safe.ts'

/** Any sequence of UTF-16 code units, often with those that control a terminal. */
const anything = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: 0, max: 0xa0 }),
      fc.constantFrom(
        0x1b,
        0x9b,
        0x5b,
        0x6d,
        0x33,
        0x3b,
        0x0a,
        0x0d,
        0x09,
        0x200d,
        0xfe0f,
        0x202e,
        0xd83d,
        0xde00,
        0xdb40,
        0xdc41,
        0x301,
      ),
    ),
    { maxLength: 60 },
  )
  .map((codes) => String.fromCharCode(...codes))

describe('text from a server', () => {
  test.each([
    ['a colour is dropped', '\u001b[31mred\u001b[0m', 'red'],
    ['a colour of one byte is dropped', '\u009b1;31mred', 'red'],
    ['a cleared screen stays visible', '\u001b[2Jgone', '\\u{1b}[2Jgone'],
    ['a moved cursor stays visible', '\u009b5Aup', '\\u{9b}5Aup'],
    ['a window title stays visible', '\u001b]0;owned\u0007', '\\u{1b}]0;owned\\u{7}'],
    ['a link stays visible', '\u001b]8;;https://evil.example\u001b\\here', '\\u{1b}]8;;https://evil.example\\u{1b}\\here'],
    ['a clipboard write stays visible', '\u001b]52;c;cm0=\u0007', '\\u{1b}]52;c;cm0=\\u{7}'],
    ['a colour made of two halves never forms', '\u001b[3\u001b[31m1mred', '\\u{1b}[31mred'],
    ['a return to the start of the line stays visible', 'safe\rfake', 'safe\\u{d}fake'],
    ['a backspace stays visible', 'ab\b\bcd', 'ab\\u{8}\\u{8}cd'],
    ['a bell and a null stay visible', '\u0007\u0000', '\\u{7}\\u{0}'],
    ['a reordered line stays visible', 'a\u202ecod.exe\u2066', 'a\\u{202e}cod.exe\\u{2066}'],
    ['hidden spaces stay visible', 'a\u200bb\u2060c\ufeffd\u00ad', 'a\\u{200b}b\\u{2060}c\\u{feff}d\\u{ad}'],
    ['tags stay visible', 'a\u{e0041}\u{e0001}', 'a\\u{e0041}\\u{e0001}'],
    ['variation selectors stay visible', 'a\ufe0f\u{e0101}', 'a\\u{fe0f}\\u{e0101}'],
    ['fillers stay visible', 'a\u3164b\u115f\u2800', 'a\\u{3164}b\\u{115f}\\u{2800}'],
    ['half of a pair stays visible', 'a\ud83d', 'a\\u{d83d}'],
    ['private characters stay visible', '\ue000', '\\u{e000}'],
    ['marks do not pile up', `e${'\u0301'.repeat(500)}!`, `e${'\u0301'.repeat(8)}!`],
  ])('%s', (_, given, shown) => {
    expect(safeText(given)).toBe(shown)
    expect(safeText(given, { lines: true })).toBe(shown)
  })

  test.each([
    'plain text, with “quotes” and a \\u{1b} that is written out',
    'größe, ça, naïve, Ελληνικά, русский, עברית, العربية, हिन्दी, 日本語, 한국어',
    'é as e\u0301 with its mark',
    '😀 👩‍💻 ❤️ 🏳️‍🌈 👍🏽 ☑️ ™',
    '',
  ])('is unchanged if plain: %s', (text) => {
    expect(safeText(text)).toBe(text)
  })

  test('becomes one line', () => {
    expect(safeText('a\r\nb\n\n\tc\u2028d\u0085e\ff')).toBe('a b c d e f')
  })

  test('keeps line breaks on request, and expands tabs', () => {
    expect(safeText('a\r\nb\n\n\tc\u2028d\u001b[K', { lines: true })).toBe('a\nb\n\n    c\nd\\u{1b}[K')
  })

  test('is cut on request, never within a surrogate pair', () => {
    expect(safeText('abcdef', { limit: 4 })).toBe('abc…')
    expect(safeText('abcd', { limit: 4 })).toBe('abcd')
    expect(safeText('ab\u{1f600}cd', { limit: 4 })).toBe('ab…')
    expect(safeText('x'.repeat(1_000_000), { limit: 0 })).toBe('…')
    expect(safeText(`${'\u001b[31m'.repeat(1_000)}abc`, { limit: 4 })).toMatch(/^.{0,3}…$/u)
  })

  test('cannot control a terminal, for any input', () => {
    fc.assert(
      fc.property(anything, fc.boolean(), (text, lines) => {
        const shown = safeText(text, { lines })
        expect(shown.replaceAll(/(?:\p{Extended_Pictographic}|\p{Emoji_Modifier})(?:\u{200d}|\u{fe0f})+/gu, '')).not.toMatch(
          /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u,
        )
        expect(shown.includes('\n') && !lines).toBe(false)
      }),
      propertyRuns({ long: 2_000, sample: 300 }),
    )
  })

  test('is idempotent', () => {
    fc.assert(
      fc.property(anything, fc.boolean(), (text, lines) => {
        const shown = safeText(text, { lines })
        expect(safeText(shown, { lines })).toBe(shown)
      }),
      propertyRuns({ long: 2_000, sample: 300 }),
    )
  })

  test('of many megabytes is processed without a stall', () => {
    const flood = '\u001b[31m\u001b[\u202e\u{1f600}\u200d'.repeat(200_000)
    expect(safeText(flood)).toHaveLength(200_000 * ('\\u{1b}[\\u{202e}'.length + 2 + '\\u{200d}'.length))
  })
})
