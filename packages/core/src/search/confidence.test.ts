import { expect, test } from 'vitest'
import { confidenceOf } from './confidence.ts'

const all = { coverage: 1, nameShare: 1, amount: 1 }
const nothing = { coverage: 0, nameShare: 0, amount: 0 }

test('full coverage of the query is a strong match, and no coverage is none', () => {
  expect(confidenceOf([{ weight: 1, best: all }])).toBe('strong')
  expect(confidenceOf([{ weight: 1, best: nothing }])).toBe('none')
  expect(confidenceOf([])).toBe('none')
})

test('an unusual name weakens a match without excluding it', () => {
  expect(confidenceOf([{ weight: 1, best: { nameShare: 0, coverage: 0.5, amount: 0.5 } }])).toBe('weak')
})

test('clauses are weighted', () => {
  expect(
    confidenceOf([
      { weight: 1, best: all },
      { weight: 0.1, best: nothing },
    ]),
  ).toBe('strong')
  expect(
    confidenceOf([
      { weight: 0.1, best: all },
      { weight: 1, best: nothing },
    ]),
  ).toBe('none')
})

test('a poor best match does not hide a good one from another source, which counts slightly less', () => {
  expect(confidenceOf([{ weight: 1, best: nothing, others: [nothing, all] }])).toBe('strong')
  const justStrong = { coverage: 0.5, nameShare: 0.3, amount: 0.6 }
  expect(confidenceOf([{ weight: 1, best: justStrong }])).toBe('strong')
  expect(confidenceOf([{ weight: 1, best: nothing, others: [justStrong] }])).toBe('weak')
})
