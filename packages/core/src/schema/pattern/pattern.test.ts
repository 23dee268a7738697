import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { acceptsText, patternExample } from './example.ts'

const any = { min: 0, max: Number.POSITIVE_INFINITY }

describe('an example for a pattern', () => {
  test.each([
    ['^\\d{4}$', '1234'],
    ['^\\d\\d:\\d\\d$', '12:34'],
    ['^[A-Z]{2}-\\d{3}$', 'AB-123'],
    ['^[a-z]+$', 'text'],
    ['^[A-Z][a-z]+$', 'Text'],
    ['^(main|release/.+)$', 'main'],
    ['^#[0-9a-fA-F]{6}$', '#abcdef'],
    ['^-?\\d+(\\.\\d+)?$', '123'],
    ['^v\\d+\\.\\d+\\.\\d+$', 'v123.456.789'],
    ['^(?<owner>[\\w-]+)/(?:[\\w.-]+)$', 'abc/abc'],
    ['^\\p{Lu}{3}$', 'ABC'],
    ['^[^/]+$', 'text'],
    ['^\\+?[1-9]\\d{7,14}$', '11234567'],
    ['id', 'id'],
    ['^$', ''],
    ['^[äöü]{2}$', 'ää'],
    ['^\\u00e9\\x41\\u{1f600}$', 'éA\u{1f600}'],
    ['^a{0}b$', 'b'],
  ])('%s: %s', (pattern, example) => {
    expect(patternExample(pattern, any)).toBe(example)
    expect(example).toMatch(new RegExp(pattern, 'u'))
  })

  test.each([
    ['^[a-z]+$', { min: 6, max: 8 }, 'abcdef'],
    ['^[a-z]*$', { min: 0, max: 2 }, 'a'],
    ['^[a-z]*$', { min: 0, max: 0 }, ''],
    ['^a', { min: 5, max: 5 }, 'axxxx'],
    ['^\\d{4}$', { min: 5, max: 9 }, undefined],
    ['^(ab)+$', { min: 6, max: 6 }, 'ababab'],
  ])('for %s respects lengths: %j', (pattern, lengths, example) => {
    expect(patternExample(pattern, lengths)).toBe(example)
  })

  test.each([
    '^(?=a)b$',
    '(a)\\1',
    '\\bword\\b',
    '(?<!a)b',
    '^(',
    '[z-a]',
    'a**',
    'x'.repeat(600),
    'a{2',
    '^\\d{9999}$',
    '\\p{Nonsense}',
  ])('is missing where it cannot be determined: %s', (pattern) => {
    expect(patternExample(pattern, any)).toBeUndefined()
  })

  test('is searched for in bounded time, also for patterns with catastrophic backtracking', () => {
    for (const pattern of ['^(a+)+$', '^(a|a)*b$', `^${'a*'.repeat(20)}b$`, '^((((a*)*)*)*)*c$', '^(.*)*(.*)*(.*)*!$'])
      expect(patternExample(pattern, { min: 100, max: 120 }) ?? 'none').toMatch(/./u)
  })
})

test('for any simple pattern, the example matches the real engine, and matches of the real engine match ours', () => {
  const piece = fc.constantFrom('a', '-', '\\d', '\\w', '[a-f0-9]', '[^x]', '\\.', '(ab|cd)', '(?:x\\d)', '.', '\\s')
  const times = fc.constantFrom('', '', '?', '*', '+', '{2}', '{1,3}', '{2,}', '+?')
  const parts = fc.array(fc.tuple(piece, times), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(parts, fc.boolean(), fc.boolean(), fc.string({ maxLength: 12 }), (all, starts, ends, text) => {
      const pattern = `${starts ? '^' : ''}${all.map((each) => each.join('')).join('')}${ends ? '$' : ''}`
      const real = new RegExp(pattern, 'u')
      const example = patternExample(pattern, any)
      expect(example).toBeDefined()
      expect(example).toMatch(real)
      expect(acceptsText(pattern, text)).toBe(real.test(text))
    }),
    { numRuns: 300 },
  )
})
