import { expect, test } from 'vitest'
import { type SharePath, Shares } from './shares.ts'

/** Takes until the share is used up, and returns the number taken. */
function takeAll(shares: Shares, path: SharePath): number {
  let count = 0
  while (shares.take(path) !== undefined) count++
  return count
}

test('one holder gets three quarters, and the next ones find room', () => {
  const shares = new Shares(() => 64)
  expect(takeAll(shares, ['a'])).toBe(48)
  expect(takeAll(shares, ['b'])).toBe(12)
  expect(takeAll(shares, ['c'])).toBe(3)
  expect(shares.total).toBe(63)
})

test('a limit of one or two can be used up by one holder', () => {
  expect(takeAll(new Shares(() => 1), ['a'])).toBe(1)
  expect(takeAll(new Shares(() => 2), ['a'])).toBe(2)
  expect(takeAll(new Shares(() => 4), ['a'])).toBe(3)
})

test('many sessions of one address share one share', () => {
  const shares = new Shares(() => 16)
  expect(takeAll(shares, ['address', 'one'])).toBe(12)
  expect(takeAll(shares, ['address', 'two'])).toBe(0)
  expect(takeAll(shares, ['other', 'three'])).toBe(3)
  expect(shares.held(['address', 'one'])).toBe(12)
})

test('a released unit can be taken again, once', () => {
  const shares = new Shares(() => 4)
  const [first] = [shares.take(['a']), shares.take(['a']), shares.take(['a'])]
  expect(shares.take(['a'])).toBeUndefined()
  first?.()
  first?.()
  expect([shares.total, shares.held(['a'])]).toEqual([2, 2])
  expect(shares.take(['a'])).toBeTypeOf('function')
})

test('without a path only the total limit applies', () => {
  expect(takeAll(new Shares(() => 5), [])).toBe(5)
})
