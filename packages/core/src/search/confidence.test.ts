import { expect, test } from 'vitest'
import { confidenceOf } from './confidence.ts'

const all = { weight: 1, coverage: 1, nameShare: 1, amount: 1 }
const nothing = { weight: 1, coverage: 0, nameShare: 0, amount: 0 }

test('everything that was asked for is a strong match, nothing of it is none', () => {
  expect(confidenceOf([all])).toBe('strong')
  expect(confidenceOf([nothing])).toBe('none')
  expect(confidenceOf([])).toBe('none')
})

test('an unusual name weakens a match without excluding it', () => {
  expect(confidenceOf([{ ...all, nameShare: 0, coverage: 0.5, amount: 0.5 }])).toBe('weak')
})

test('clauses count by what they ask for', () => {
  expect(confidenceOf([all, { ...nothing, weight: 0.1 }])).toBe('strong')
  expect(confidenceOf([{ ...all, weight: 0.1 }, nothing])).toBe('none')
})
