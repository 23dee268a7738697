import { expect, test } from 'vitest'
import { isRecord } from './record.ts'

test('a record is an object with or without a prototype', () => {
  expect([{}, { a: 1 }, Object.create(null)].every(isRecord)).toBe(true)
})

test('arrays, null, functions and primitives are not records', () => {
  expect([[], null, undefined, 'text', 1, true, () => 1].some(isRecord)).toBe(false)
})
