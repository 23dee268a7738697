import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Failure } from './failure.ts'
import { checkGroupName, checkToolName, nearest, nearestHint, printable, printableText } from './names.ts'

/** Any sequence of UTF-16 code units, also those that are no Unicode text. */
const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 }).map((codes) => String.fromCharCode(...codes))

describe('the name of a tool', () => {
  test.each(['a', 'read_file', 'github.issues-list', 'A1', '-', '..', '__proto__', 'constructor', 'x'.repeat(128)])(
    'may be %j',
    (name) => {
      expect(() => checkToolName(name)).not.toThrow()
    },
  )

  test.each([
    '',
    ' ',
    'read file',
    'x'.repeat(129),
    'a/b',
    'a:b',
    'a\n',
    'größe',
    'g\u0456thub',
    'a\u0000',
    '\ud83d',
    '\u{1f600}',
  ])('may not be %j', (name) => {
    expect(() => checkToolName(name)).toThrow(Failure)
  })
})

describe('the name of a group', () => {
  test.each(['a', 'file_ops', 'cloud.aws-1', 'constructor', 'x'.repeat(100)])('may be %j', (name) => {
    expect(() => checkGroupName(name)).not.toThrow()
  })

  test.each(['', 'file ops', 'x'.repeat(101), 'a,b', 'a\n', 'wölfe', '__proto__'])('may not be %j', (name) => {
    expect(() => checkGroupName(name)).toThrow(Failure)
  })
})

test('a refused name is shown escaped and cut, with the rule', () => {
  expect(() => checkToolName('\u001b[2Jgone')).toThrow(
    '"\\u{1b}[2Jgone" is not a valid tool name. Use 1 to 128 letters, digits, underscores, dots and hyphens.',
  )
  expect(() => checkGroupName('g '.repeat(500_000))).toThrow(/^.{100,300}$/)
})

describe('text from outside', () => {
  test.each([
    ['an ANSI colour', '\u001b[31mred', '\\u{1b}[31mred'],
    ['a C1 control', '\u009b31m', '\\u{9b}31m'],
    ['an OSC 8 link', '\u001b]8;;https://evil.example\u0007', '\\u{1b}]8;;https://evil.example\\u{7}'],
    ['a line break', 'a\r\nb', 'a\\u{d}\\u{a}b'],
    ['a bidirectional override', 'a\u202eb\u2066c', 'a\\u{202e}b\\u{2066}c'],
    ['zero-width characters', 'a\u200bb\u200dc\ufeffd\u2060', 'a\\u{200b}b\\u{200d}c\\u{feff}d\\u{2060}'],
    ['tag characters', 'a\u{e0041}', 'a\\u{e0041}'],
    ['a private character', '\ue000', '\\u{e000}'],
    ['half a surrogate pair', 'a\ud83d', 'a\\u{d83d}'],
    ['two halves in the wrong order', '\ude00\ud83d', '\\u{de00}\\u{d83d}'],
  ])('is shown with %s as an escape', (_, text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  test('is shown as it is when it is only unusual', () => {
    expect(printable('größe 大きさ \u{1f600} "quoted" \\ é')).toBe('größe 大きさ \u{1f600} "quoted" \\ é')
  })

  test('is cut when it is long', () => {
    expect(printable('x'.repeat(121))).toBe(`${'x'.repeat(120)}…`)
    expect(printable('x'.repeat(120))).toBe('x'.repeat(120))
    expect(printable('abcdef', 3)).toBe('abc…')
  })

  test('keeps line breaks and escapes every other invisible character', () => {
    expect(printableText('one\r\ntwo\n\tthree\u001b[2J\u202e')).toBe('one\ntwo\n  three\\u{1b}[2J\\u{202e}')
    expect(printableText('x\n'.repeat(10), 5)).toBe('x\nx\nx…')
  })

  test('that is cut within a surrogate pair shows no half of it', () => {
    expect(printable('ab\u{1f600}', 3)).toBe('ab\\u{d83d}…')
  })

  test('never shows a control, a format character or a broken pair', () => {
    fc.assert(
      fc.property(units, (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u)
      }),
    )
  })
})

describe('the nearest names', () => {
  const names = ['read_file', 'write_file', 'list_issues', 'create_issue', 'delete_repository']

  test.each([
    ['a letter is missing', 'read_fil', 'read_file'],
    ['a letter is too much', 'creates_issue', 'create_issue'],
    ['letters are swapped', 'raed_file', 'read_file'],
    ['a letter is wrong', 'list_izsues', 'list_issues'],
    ['it is in capitals', 'READ_FILE', 'read_file'],
    ['only a part was given', 'repository', 'delete_repository'],
  ])('include the one that was meant when %s', (_, wanted, meant) => {
    expect(nearest(wanted, names)[0]).toBe(meant)
  })

  test('are none when nothing is close', () => {
    expect(nearest('send_email_to_customer', names)).toEqual([])
    expect(nearest('zzz', names)).toEqual([])
    expect(nearest('read_file', [])).toEqual([])
  })

  test('begin with the same name in other capitals', () => {
    expect(nearest('Read', ['can_read', 'read', 'read_all'])).toEqual(['read', 'can_read', 'read_all'])
  })

  test('begin with the best, and names that are as close follow the alphabet', () => {
    expect(nearest('toool_a', ['tool_c', 'tool_a', 'tool_b'])).toEqual(['tool_a', 'tool_b', 'tool_c'])
  })

  test('are at most three, or as many as asked for', () => {
    const many = ['tool_1', 'tool_2', 'tool_3', 'tool_4', 'tool_5']
    expect(nearest('tool_x', many)).toHaveLength(3)
    expect(nearest('tool_x', many, 1)).toEqual(['tool_1'])
  })

  test('are found among thousands of long names with little work', () => {
    const long = 'some_rather_long_name_of_a_tool_'.repeat(3)
    const many = Array.from({ length: 10_000 }, (_, index) => `${long}${index}`)
    expect(nearest(`${long.replaceAll('o', '0')}7`, many)).toEqual([])
    expect(nearest(`${long}x`, many)).toEqual([`${long}0`, `${long}1`, `${long}2`])
    // Only the first of these are compared, because each takes as long as a real comparison.
    const anagrams = many.map((name) => name.split('').reverse().join(''))
    expect(nearest(`${long}7`, anagrams)).toEqual([])
  })

  test('are those in which no more than six characters, and of short names a third, must change', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 3, maxLength: 24 })
    fc.assert(
      fc.property(word, word, (wanted, name) => {
        const reach = Math.min(6, Math.max(2, Math.floor(wanted.length / 3)))
        const isNear = name.includes(wanted) || changes(wanted, name) <= reach
        expect(nearest(wanted, [name])).toEqual(isNear ? [name] : [])
      }),
      { numRuns: 2_000 },
    )
  })

  test('do not depend on the order in which the names come', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ maxLength: 6 }), { maxLength: 20 }), fc.string({ maxLength: 6 }), (all, wanted) => {
        expect(nearest(wanted, all.toReversed())).toEqual(nearest(wanted, all))
      }),
    )
  })

  test('are found quickly for a megabyte of text', () => {
    expect(nearest('x'.repeat(2 ** 20), names)).toEqual([])
  })

  test('of nothing are only very short ones', () => {
    expect(nearest('', ['ab', 'abc'])).toEqual(['ab'])
  })
})

test('a hint is a sentence, or nothing', () => {
  expect(nearestHint(['a', 'b'])).toBe(' Nearest: a, b.')
  expect(nearestHint([])).toBe('')
})

/** How many characters must change, by the book. */
function changes(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
