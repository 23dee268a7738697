import { expect, test } from 'vitest'
import { normalForm } from './normalize.ts'

test('text is normalized as Unicode specifies', () => {
  const text = 'e\u{301} \u{FB01} \u{212B} ｶ\u{FF9E} नि'
  for (const form of ['NFC', 'NFKC', 'NFKD'] as const) expect(normalForm(text, form)).toBe(text.normalize(form))
})

test.each(['\u{301}\u{323}', '\u{301}\u{FF9E}', '\u{1D165}\u{302}\u{316}'])(
  'a million unordered marks on one letter are normalized as a few: %j',
  (pair) => {
    expect(normalForm(`a${pair.repeat(500_000)} b`, 'NFKC').length).toBeLessThan(40)
  },
)
