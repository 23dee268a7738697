import { expect, test } from 'vitest'
import { formatNumber, plural } from './number.ts'

test('digits are grouped by thousands', () => {
  expect([0, 7, 999, 1_000, 12_345, 123_456, 1_234_567].map(formatNumber)).toEqual([
    '0',
    '7',
    '999',
    '1,000',
    '12,345',
    '123,456',
    '1,234,567',
  ])
})

test('one is singular', () => {
  expect([0, 1, 2, 1_000].map((count) => plural(count, 'tool'))).toEqual(['0 tools', '1 tool', '2 tools', '1,000 tools'])
})
