import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Failure } from './failure.ts'
import { checkGroupName, checkToolName, printable, printableText } from './names.ts'

/** Any sequence of UTF-16 code units, including invalid Unicode. */
const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 }).map((codes) => String.fromCharCode(...codes))

describe('the name of a tool', () => {
  test.each(['a', 'read_file', 'github.issues-list', 'A1', '-', '..', '__proto__', 'constructor', 'x'.repeat(128)])(
    'can be %j',
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
  ])('cannot be %j', (name) => {
    expect(() => checkToolName(name)).toThrow(Failure)
  })
})

describe('the name of a group', () => {
  test.each(['a', 'file_ops', 'cloud.aws-1', 'constructor', 'x'.repeat(100)])('can be %j', (name) => {
    expect(() => checkGroupName(name)).not.toThrow()
  })

  test.each(['', 'file ops', 'x'.repeat(101), 'a,b', 'a\n', 'wölfe', '__proto__'])('cannot be %j', (name) => {
    expect(() => checkGroupName(name)).toThrow(Failure)
  })
})

test('a rejected name is shown escaped and truncated, with the rule', () => {
  expect(() => checkToolName('\u001b[2Jgone')).toThrow(
    '"\\u{1b}[2Jgone" is not a valid tool name. Use 1 to 128 letters, digits, underscores, dots and hyphens.',
  )
  expect(() => checkGroupName('g '.repeat(500_000))).toThrow(/^.{100,300}$/)
})

describe('untrusted text', () => {
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
  ])('is shown with %s escaped', (_, text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  test('is unchanged if it is only unusual', () => {
    expect(printable('größe 大きさ \u{1f600} "quoted" \\ é')).toBe('größe 大きさ \u{1f600} "quoted" \\ é')
  })

  test('is truncated if it is long', () => {
    expect(printable('x'.repeat(121))).toBe(`${'x'.repeat(120)}…`)
    expect(printable('x'.repeat(120))).toBe('x'.repeat(120))
    expect(printable('abcdef', 3)).toBe('abc…')
  })

  test('keeps line breaks and escapes every other invisible character', () => {
    expect(printableText('one\r\ntwo\n\tthree\u001b[2J\u202e')).toBe('one\ntwo\n  three\\u{1b}[2J\\u{202e}')
    expect(printableText('x\n'.repeat(10), 5)).toBe('x\nx\nx…')
  })

  test('truncated within a surrogate pair shows no half of it', () => {
    expect(printable('ab\u{1f600}', 3)).toBe('ab\\u{d83d}…')
  })

  test('never shows control characters, format characters or unpaired surrogates', () => {
    fc.assert(
      fc.property(units, (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u)
      }),
    )
  })
})
