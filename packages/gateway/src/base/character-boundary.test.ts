import fc from 'fast-check'
import { expect, test } from 'vitest'
import { partEnd } from './character-boundary.ts'

const texts = fc
  .array(fc.constantFrom('a', 'line\n', '\r\n', '😀', 'é', '👩‍👩‍👧'), { minLength: 1, maxLength: 60 })
  .map((parts) => parts.join(''))

test('joined parts are the whole text, each within the limit and none with half a surrogate pair', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 40 }), (text, limit) => {
      const parts: string[] = []
      for (let from = 0; from < text.length; ) {
        const end = partEnd(text, from, limit)
        parts.push(text.slice(from, end))
        from = end
      }
      expect(parts.join('')).toBe(text)
      for (const part of parts) {
        expect(part).not.toBe('')
        expect(part).not.toMatch(/\p{Surrogate}/u)
        // Only a single surrogate pair may exceed the limit.
        expect(part.length).toBeLessThanOrEqual(/^.$/su.test(part) ? 2 : limit)
      }
    }),
  )
})

test('a part ends at a line break if there is one in its second half, else at the limit', () => {
  expect(partEnd('one\ntwo\nthree', 0, 10)).toBe(8)
  expect(partEnd('one\nthis is a long line', 0, 20)).toBe(20)
  expect(partEnd('short', 0, 20)).toBe(5)
})
