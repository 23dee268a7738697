import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Failure, isFailure } from '../base/failure.ts'
import { fingerprint } from '../tool/fingerprint.ts'
import { pageOf } from './pages.ts'

const list = fingerprint('one list')
const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g']

function refusalOf(cursor: string): Failure {
  try {
    pageOf(letters, 2, list, cursor)
  } catch (error) {
    if (isFailure(error)) return error
    throw error
  }
  throw new Error('the cursor was accepted')
}

test('following the cursors returns every item once, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { maxLength: 100 }), fc.integer({ min: 1, max: 120 }), (items, size) => {
      const walked: number[] = []
      let cursor: string | undefined
      let pages = 0
      do {
        const page = pageOf(items, size, list, cursor)
        walked.push(...page.items)
        cursor = page.nextCursor
        pages++
      } while (cursor !== undefined)
      expect(walked).toEqual(items)
      expect(pages).toBe(Math.max(1, Math.ceil(items.length / size)))
    }),
  )
})

test('without a page size everything is on one page', () => {
  expect(pageOf(letters, undefined, list)).toEqual({ items: letters })
})

test('a cursor still works after the page size was removed', () => {
  const { nextCursor } = pageOf(letters, 3, list)
  expect(pageOf(letters, undefined, list, nextCursor)).toEqual({ items: ['d', 'e', 'f', 'g'] })
})

test('a cursor can be used more than once', () => {
  const { nextCursor } = pageOf(letters, 3, list)
  expect(pageOf(letters, 3, list, nextCursor)).toEqual(pageOf(letters, 3, list, nextCursor))
})

test('a full last page has no cursor', () => {
  expect(pageOf(['a', 'b'], 2, list)).toEqual({ items: ['a', 'b'] })
})

describe('a cursor is stale', () => {
  test('if it was made for another list', () => {
    const { nextCursor = '' } = pageOf(letters, 2, fingerprint('another list'))
    const failure = refusalOf(nextCursor)
    expect(failure.reason).toBe('stale_cursor')
    expect(failure.details).toEqual({ cursor: nextCursor })
    expect(failure.message).toContain('List again without a cursor')
  })

  test('if it points beyond the end', () => {
    expect(refusalOf(`zzzzzzzz.${list}`).reason).toBe('stale_cursor')
  })
})

describe('a cursor is invalid', () => {
  test.each([
    ['empty', ''],
    ['a word', 'garbage'],
    ['without a list', '2.'],
    ['without a place', `.${list}`],
    ['with a negative place', `-2.${list}`],
    ['with a place that is too long', `${'1'.repeat(9)}.${list}`],
    ['with a list in capitals', `2.${'A'.repeat(32)}`],
    ['followed by something', `2.${list}\n`],
    ['led by something', ` 2.${list}`],
    ['with digits of another script', `\uff12.${list}`],
    ['with half a surrogate pair', `\ud83d.${list}`],
    ['with a NUL', `2\u0000.${list}`],
  ])('when it is %s', (_, cursor) => {
    expect(refusalOf(cursor).reason).toBe('invalid_cursor')
  })

  test('if it is a megabyte long, and the error stays short', () => {
    const failure = refusalOf('1'.repeat(2 ** 20))
    expect(failure.reason).toBe('invalid_cursor')
    expect(JSON.stringify(failure.details).length).toBeLessThan(200)
  })

  test('for any characters, and nothing but a failure is thrown', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (cursor) => {
        expect(refusalOf(cursor).reason).toBe('invalid_cursor')
      }),
    )
  })
})
