import { expect, test } from 'vitest'
import { beliefOf, type ClauseEvidence, type Confidence, certaintyOf, rated } from './confidence.ts'

const all = { coverage: 1, nameShare: 1, amount: 1 }
const nothing = { coverage: 0, nameShare: 0, amount: 0 }

const confidenceOf = (clauses: readonly ClauseEvidence[]): Confidence => rated(certaintyOf(beliefOf(clauses)))

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

test('closeness in meaning raises the certainty of a match, and alone it is never strong', () => {
  const far = { cosine: 0.1, lacksRarest: false }
  const close = { cosine: 0.9, lacksRarest: false }
  expect(rated(certaintyOf(0.6, far))).toBe('weak')
  expect(rated(certaintyOf(0.6, close))).toBe('strong')
  expect(rated(certaintyOf(0, far))).toBe('none')
  expect(rated(certaintyOf(0, close))).toBe('weak')
})

test('a short request whose rarest word is missing is less certain', () => {
  expect(certaintyOf(0.6, { cosine: 0.4, lacksRarest: true })).toBeLessThan(certaintyOf(0.6, { cosine: 0.4, lacksRarest: false }))
})

test('the minimum decides what counts as a match', () => {
  expect(rated(0.5, 0.6)).toBe('none')
  expect(rated(0.3, 0.2)).toBe('weak')
})
