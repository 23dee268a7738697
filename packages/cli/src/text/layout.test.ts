import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tableLines } from './table.ts'
import { widthOf } from './width.ts'
import { fitted, padded, wrapped } from './wrap.ts'

describe('the width of a line', () => {
  test.each([
    ['abc', 3],
    ['größe', 5],
    ['e\u0301', 1],
    ['日本', 4],
    ['한글', 4],
    ['ｆｕ', 4],
    ['😀', 2],
    ['👩‍💻', 2],
    ['❤️', 2],
    ['\u{20000}', 2],
    ['\u001b[1mbold\u001b[22m é', 6],
    ['\u0301', 0],
    ['', 0],
  ])('of %j is %i', (text, width) => {
    expect(widthOf(text)).toBe(width)
  })
})

describe('wrapping', () => {
  test('breaks at spaces', () => {
    expect(wrapped('the quick brown fox', 10)).toEqual(['the quick', 'brown fox'])
  })

  test('breaks long words, and respects wide characters', () => {
    expect(wrapped('a verylongword b', 6)).toEqual(['a', 'verylo', 'ngword', 'b'])
    expect(wrapped('日本語テキスト', 6)).toEqual(['日本語', 'テキス', 'ト'])
  })

  test('keeps line breaks and list indentation', () => {
    expect(wrapped('a\n\n  - one two three', 10)).toEqual(['a', '', '  - one', '  two', '  three'])
  })

  test('keeps all words and the width, for any text', () => {
    const word = fc.oneof(fc.stringMatching(/^[a-z]{1,12}$/u), fc.constantFrom('日本語', 'größe', '😀'))
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), fc.integer({ min: 2, max: 40 }), (words, width) => {
        const lines = wrapped(words.join(' '), width)
        expect(lines.join('').replaceAll(' ', '')).toBe(words.join(''))
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
      }),
    )
  })

  test('terminates for a width of zero', () => {
    expect(wrapped('ab c', 0)).toEqual(['a', 'b', 'c'])
  })
})

describe('fitting', () => {
  test('cuts with an ellipsis and pads with spaces', () => {
    expect(fitted('hello', 5)).toBe('hello')
    expect(fitted('hello!', 5)).toBe('hell…')
    expect(fitted('日本語', 4)).toBe('日…')
    expect(fitted('日本語', 2)).toBe('…')
    expect(fitted('hello', 0)).toBe('')
    expect(padded('日', 4)).toBe('日  ')
    expect(padded('long', 2)).toBe('long')
  })
})

describe('a table', () => {
  const rows = [
    ['--title', 'The title of the issue, short and clear'],
    ['--a-very-long-flag-name', 'Long'],
    ['--state', ''],
  ]

  test('aligns columns, wraps the last, and gives a wide cell its own line', () => {
    expect(tableLines(rows, { width: 40, indent: 2, widest: 12 })).toEqual([
      '  --title  The title of the issue, short',
      '           and clear',
      '  --a-very-long-flag-name',
      '           Long',
      '  --state',
    ])
  })

  test('cuts the last column if every row must be one line', () => {
    expect(tableLines(rows, { width: 44, last: 'cut', widest: 30 })).toEqual([
      '--title                  The title of the i…',
      '--a-very-long-flag-name  Long',
      '--state',
    ])
  })

  test('works with one column, three, and none', () => {
    expect(tableLines([['a'], ['b c']], { width: 20 })).toEqual(['a', 'b c'])
    expect(
      tableLines(
        [
          ['a', 'bb', 'c'],
          ['aaa', 'b', 'd'],
        ],
        { width: 40 },
      ),
    ).toEqual(['a    bb  c', 'aaa  b   d'])
    expect(tableLines([], { width: 40 })).toEqual([])
  })

  test('respects wide characters', () => {
    expect(
      tableLines(
        [
          ['日本', 'x'],
          ['abc', 'y'],
        ],
        { width: 40 },
      ),
    ).toEqual(['日本  x', 'abc   y'])
  })

  test('never exceeds the terminal width if wrapping is possible', () => {
    const cell = fc.stringMatching(/^[a-z ]{0,30}$/u)
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 6 }), fc.integer({ min: 44, max: 120 }), (cells, width) => {
        for (const line of tableLines(cells, { width, widest: 20 })) expect(widthOf(line)).toBeLessThanOrEqual(width)
      }),
    )
  })
})
