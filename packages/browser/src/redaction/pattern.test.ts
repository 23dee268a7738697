import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { compilePattern } from './pattern.ts'

const hidden = (pattern: string, text: string): string => compilePattern(pattern).hide(text).text

describe('a pattern', () => {
  test.each([
    ['plain text', 'ACME', 'an ACME thing', 'an [redacted] thing'],
    ['digits', '\\d{3}-\\d{2}', 'no 123-45.', 'no [redacted].'],
    ['a set', '[a-c_\\d]+!', 'x ab1_c! y', 'x [redacted] y'],
    ['a negated set', '<[^<>]*>', 'a <b c> d', 'a [redacted] d'],
    ['alternatives in a group', '(?:cat|dog)s?', 'cats and a dog', '[redacted] and a [redacted]'],
    ['line ends', '^id: .+$', 'a\nid: 7 8\nb', 'a\n[redacted]\nb'],
    ['word edges', '\\bcat\\b', 'concat cat cats', 'concat [redacted] cats'],
    ['escapes', 'a\\.b\\x2b\\u0063', 'a.b+c axb+c', '[redacted] axb+c'],
    ['a brace that counts nothing', 'a{b}', 'a{b}', '[redacted]'],
    ['a hyphen at the end of a set', '[a-]+', 'b-a-b', 'b[redacted]b'],
    ['as few as possible, which hides as much', 'a+?', 'baaa', 'b[redacted]'],
  ])('may have %s', (_, pattern, text, kept) => {
    expect(hidden(pattern, text)).toBe(kept)
  })

  test('hides everything that is part of any match, also of those that overlap', () => {
    expect(hidden('\\d{6}', 'n 1234567890')).toBe('n [redacted]')
    expect(hidden('aba', 'xababay')).toBe('x[redacted]y')
  })

  test('returns the number of redactions', () => {
    expect(compilePattern('a+').hide('a b aa').hidden).toBe(2)
    expect(compilePattern('a+').hide('b').hidden).toBe(0)
  })

  test.each([
    ['', 'The pattern is empty.'],
    ['a'.repeat(201), 'The pattern has 201 characters; at most 200 are allowed.'],
    ['a*', 'The pattern matches the empty string'],
    ['^$', 'The pattern matches the empty string'],
    ['(a)\\1', 'Back-references are not supported'],
    ['(?<n>a)\\k<n>', 'named groups'],
    ['(?<=a)b', 'Look-around'],
    ['(?<!a)b', 'Look-around'],
    ['a(?=b)', 'Look-around'],
    ['\\p{L}+', '`\\p` is not supported'],
    ['(a', 'Unterminated group.'],
    ['a)', 'Unmatched closing parenthesis.'],
    ['[a', 'Unterminated set.'],
    ['[]', 'Empty set.'],
    ['[z-a]', 'A range goes from one character to a later one'],
    ['a**', 'Two consecutive repetitions.'],
    ['a{2}{3}', 'Two consecutive repetitions.'],
    ['*a', 'There is nothing before `*` to repeat.'],
    ['\\b+', 'cannot be repeated'],
    ['a\\', 'Trailing backslash.'],
    ['a{3,2}', 'has its numbers in the wrong order'],
    ['a{500}', 'repeats more than 200 times'],
    ['(?:a{100}){100}', 'nests too many repetitions'],
    ['$ecret', '`$` is the end of a line, and something comes after it.'],
    ['a^b', '`^` is the beginning of a line, and something comes before it.'],
    ['('.repeat(100), 'nested deeper'],
  ])('such as %j is refused, with the reason', (pattern, reason) => {
    expect(() => compilePattern(pattern)).toThrow(reason)
  })

  test.each(['((){200}){200}a', '(?:(?:(?:){200}){200}){200}a'])(
    'such as %j, which repeats nothing, is read at once',
    (pattern) => {
      expect(hidden(pattern, 'xa')).toBe('x[redacted]')
    },
  )
})

// Each of these makes a machine that goes back take longer than anyone waits.
describe('a pattern that would be slow elsewhere', () => {
  test.each([
    ['(a+)+$', `${'a'.repeat(200_000)}!`],
    ['(a|a)*b', 'a'.repeat(200_000)],
    ['(a|aa)+$', `${'a'.repeat(200_000)}!`],
    ['(.*)*x', 'y'.repeat(200_000)],
    ['\\d+\\d+\\d+\\d+x', '1'.repeat(200_000)],
    ['([a-zA-Z]+)*\\d', 'a'.repeat(200_000)],
    ['a?'.repeat(30) + 'a'.repeat(30), 'a'.repeat(29)],
    ['a|a*b', 'a'.repeat(200_000)],
    ['(x+x+)+y', 'x'.repeat(200_000)],
  ])('%s is not', (pattern, text) => {
    expect(typeof hidden(pattern, text)).toBe('string')
  })
})

/** The pattern, but for one that can match nothing at some place, such as `\b`. */
function compiled(source: string): ReturnType<typeof compilePattern> | undefined {
  try {
    return compilePattern(source)
  } catch (error) {
    if (String(error).includes('matches the empty string')) return undefined
    throw error
  }
}

test('what the regular expressions of the language match is hidden', () => {
  const atom = fc.constantFrom('a', 'b', 'c', '.', '\\d', '\\w', '[ab]', '[^a]', '(?:a|bc)', '(ab?)', '\\b', '(?:a+|b)', '-')
  const times = fc.constantFrom('', '', '', '+', '*', '?', '{2}', '{1,3}', '{2,}')
  const part = fc.tuple(atom, times).map(([one, many]) => (one === '\\b' ? one : one + many))
  const sequence = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
  const pattern = fc.array(sequence, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|'))
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '-', ' ', '\n'), maxLength: 24 })
  fc.assert(
    fc.property(pattern, text, (source, given) => {
      const native = new RegExp(source, 'gm')
      fc.pre(!native.test(''))
      native.lastIndex = 0
      const own = compiled(source)
      fc.pre(own !== undefined)
      const kept = own.hide(given).text
      expect(kept.indexOf('[redacted]')).toBe(native.exec(given)?.index ?? -1)
      // A mark makes edges that were none; without those nothing is left that matches by itself.
      if (source.includes('\\b')) return
      for (const rest of kept.split('[redacted]')) expect(new RegExp(source, 'm').test(rest)).toBe(false)
    }),
    propertyRuns({ long: 3_000, sample: 500 }),
  )
})
