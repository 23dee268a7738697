import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonSize } from './json-size.ts'

test('the size of a value is about that of its JSON, and that of an empty one is almost zero', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const length = JSON.stringify(value).length
      expect(jsonSize(value)).toBeLessThanOrEqual(length * 4 + 4)
      expect(jsonSize(value) * 6 + 24).toBeGreaterThanOrEqual(length)
    }),
  )
  expect(jsonSize(undefined)).toBe(4)
})

test('counting stops at the limit, for values of any width and depth', () => {
  expect(
    jsonSize(
      Array.from({ length: 2_000_000 }, () => 0),
      100,
    ),
  ).toBe(2_000_000)
  let deep: unknown = []
  for (let level = 0; level < 100_000; level++) deep = [deep]
  expect(jsonSize(deep, 50)).toBe(51)
  const wide = Object.fromEntries(Array.from({ length: 1_000 }, (_, key) => [`key ${key}`, 'x'.repeat(1_000)]))
  expect(jsonSize(wide, 100)).toBeLessThan(200)
})
