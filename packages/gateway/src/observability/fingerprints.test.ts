import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Fingerprints } from './fingerprints.ts'

test('every value is found anywhere in a text, and nothing else', () => {
  const value = fc.string({ minLength: 6, maxLength: 40 })
  fc.assert(
    fc.property(
      fc.uniqueArray(value, { minLength: 1, maxLength: 8 }),
      fc.array(fc.string(), { maxLength: 8 }),
      (values, around) => {
        const known = new Fingerprints(100)
        expect(known.add(values)).toBe(true)
        expect(known.add(values)).toBe(false)
        const text = values.map((each, at) => `${around[at] ?? ''}${each}`).join('')
        const expected = values.flatMap((each) =>
          [...Array(text.length).keys()]
            .filter((start) => text.startsWith(each, start))
            .map((start) => ({ start, end: start + each.length })),
        )
        const inOrder = (ranges: readonly { readonly start: number; readonly end: number }[]) =>
          ranges.toSorted((a, b) => a.start - b.start || a.end - b.end)
        expect(inOrder(known.find(text))).toEqual(inOrder(expected))
      },
    ),
    { numRuns: 200 },
  )
})

test('their number is limited, and those in use or found recently are kept', () => {
  const known = new Fingerprints(100)
  known.add(['name-of-the-server', 'never-seen-again'])
  for (let at = 0; at < 1_000; at++) {
    known.add([`access-${at}`, 'refresh-1'])
    expect(known.find('is name-of-the-server')).toHaveLength(1)
    expect(known.size).toBeLessThanOrEqual(100)
  }
  for (const text of ['refresh-1', 'access-999', 'access-910']) expect(known.find(text)).toHaveLength(1)
  for (const text of ['never-seen-again', 'access-1.']) expect(known.find(text)).toEqual([])
})
