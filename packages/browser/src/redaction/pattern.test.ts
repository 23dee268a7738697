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
    ['a lazy quantifier, which redacts as much', 'a+?', 'baaa', 'b[redacted]'],
  ])('supports %s', (_, pattern, text, kept) => {
    expect(hidden(pattern, text)).toBe(kept)
  })

  test('redacts every character that is part of any match, including overlapping ones', () => {
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
  ])('such as %j is rejected with the reason', (pattern, reason) => {
    expect(() => compilePattern(pattern)).toThrow(reason)
  })

  test.each(['((){200}){200}a', '(?:(?:(?:){200}){200}){200}a'])(
    'such as %j, which repeats nothing, is compiled quickly',
    (pattern) => {
      expect(hidden(pattern, 'xa')).toBe('x[redacted]')
    },
  )
})

// Each of these would take a backtracking engine practically forever.
describe('a pattern that is slow in a backtracking engine', () => {
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
  ])('%s is fast', (pattern, text) => {
    expect(typeof hidden(pattern, text)).toBe('string')
  })
})

/** The pattern, unless it can match the empty string somewhere, such as `\b`. */
function compiled(source: string): ReturnType<typeof compilePattern> | undefined {
  try {
    return compilePattern(source)
  } catch (error) {
    if (String(error).includes('matches the empty string')) return undefined
    throw error
  }
}

/** Redacts every span that JavaScript's own engine can match, by trying each start and each end. */
function redactedByRegExp(source: string, text: string): string {
  let clean = ''
  let kept = 0
  let span: readonly [number, number] | undefined
  const close = (): void => {
    if (span === undefined) return
    clean += `${text.slice(kept, span[0])}[redacted]`
    kept = span[1]
  }
  for (let start = 0; start < text.length; start++) {
    const end = longestEnd(source, text, start)
    if (end === undefined) continue
    if (span !== undefined && start <= span[1]) span = [span[0], Math.max(span[1], end)]
    else {
      close()
      span = [start, end]
    }
  }
  close()
  return clean + text.slice(kept)
}

function longestEnd(source: string, text: string, start: number): number | undefined {
  for (let rest = 0; start + rest < text.length; rest++) {
    const exact = new RegExp(`(?:${source})(?=[^]{${rest}})(?![^]{${rest + 1}})`, 'my')
    exact.lastIndex = start
    if (exact.test(text)) return text.length - rest
  }
  return undefined
}

test('redacts exactly what JavaScript regular expressions can match, for any pattern and text', () => {
  const atoms = 'a b c . - é \\d \\w \\W \\s \\S \\u0041 [ab] [^a] [\\s-] [\\x61-b\\d] (?:a|bc) (ab?) (?:a+|b) (?:^|-) (?:$|c)'
  const atom = fc.constantFrom(...atoms.split(' '))
  const times = fc.constantFrom('', '', '', '+', '*', '?', '{2}', '{1,3}', '{2,}', '+?')
  const middle = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(atom, times).map((both) => both.join('')) },
    fc.constantFrom('\\b', '\\B'),
  )
  const sequence = fc
    .tuple(fc.constantFrom('', '', '^'), fc.array(middle, { minLength: 1, maxLength: 4 }), fc.constantFrom('', '', '$'))
    .map(([start, parts, end]) => start + parts.join('') + end)
  const pattern = fc.array(sequence, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|'))
  const characters = ['a', 'b', 'c', 'A', '1', '-', ' ', '\n', '\r', 'é', '\u00a0', '\u2028', '😀']
  const text = fc.string({ unit: fc.constantFrom(...characters), maxLength: 14 })
  fc.assert(
    fc.property(pattern, text, (source, given) => {
      const own = compiled(source)
      fc.pre(own !== undefined)
      expect(own.hide(given).text).toBe(redactedByRegExp(source, given))
    }),
    propertyRuns({ long: 3_000, sample: 500 }),
  )
})
