import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sizeOf } from './json-size.ts'

test('the size of a value is about that of its JSON, and an empty one has nearly none', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const length = JSON.stringify(value).length
      expect(sizeOf(value)).toBeLessThanOrEqual(length * 4 + 4)
      expect(sizeOf(value) * 6 + 24).toBeGreaterThanOrEqual(length)
    }),
  )
  expect(sizeOf(undefined)).toBe(4)
})

test('no more is counted than has to be, however wide or deep a value is', () => {
  expect(
    sizeOf(
      Array.from({ length: 2_000_000 }, () => 0),
      100,
    ),
  ).toBe(2_000_000)
  let deep: unknown = []
  for (let level = 0; level < 100_000; level++) deep = [deep]
  expect(sizeOf(deep, 50)).toBe(51)
  const wide = Object.fromEntries(Array.from({ length: 1_000 }, (_, key) => [`key ${key}`, 'x'.repeat(1_000)]))
  expect(sizeOf(wide, 100)).toBeLessThan(200)
})
