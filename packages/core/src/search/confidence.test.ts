import { expect, test } from 'vitest'
import { type ClauseEvidence, type Confidence, certaintyOf, rated } from './confidence.ts'

const all = { coverage: 1, nameShare: 1, amount: 1 }
const nothing = { coverage: 0, nameShare: 0, amount: 0 }

const confidenceOf = (clauses: readonly ClauseEvidence[]): Confidence => rated(certaintyOf(clauses))

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

const half: readonly ClauseEvidence[] = [{ weight: 1, best: { coverage: 0.7, nameShare: 0.4, amount: 0.5 } }]
const none: readonly ClauseEvidence[] = [{ weight: 1, best: nothing }]

test('closeness in meaning raises the certainty of a match, and alone it is never strong', () => {
  const far = { cosine: 0.1, firstCosine: 0.1, lacksRarest: false }
  const close = { cosine: 0.9, firstCosine: 0.9, lacksRarest: false }
  expect(rated(certaintyOf(half, far))).toBe('weak')
  expect(rated(certaintyOf(half, close))).toBe('strong')
  expect(rated(certaintyOf(none, far))).toBe('none')
  expect(rated(certaintyOf(none, close))).toBe('weak')
})

test('a first match that is far in meaning is not strong because a later one is close', () => {
  expect(rated(certaintyOf(half, { cosine: 0.9, firstCosine: 0.1, lacksRarest: false }))).toBe('weak')
})

test('a short request whose rarest word is missing is less certain', () => {
  expect(certaintyOf(half, { cosine: 0.4, firstCosine: 0.4, lacksRarest: true })).toBeLessThan(
    certaintyOf(half, { cosine: 0.4, firstCosine: 0.4, lacksRarest: false }),
  )
})

test('a tool with every word of the query is a match, however far its meaning', () => {
  const covered = [{ weight: 1, best: { coverage: 1, nameShare: 0, amount: 0.1 } }]
  expect(rated(certaintyOf(covered, { cosine: -0.2, firstCosine: -0.2, lacksRarest: false }))).toBe('weak')
})

test('the minimum decides what counts as a match', () => {
  expect(rated(0.5, 0.6)).toBe('none')
  expect(rated(0.3, 0.2)).toBe('weak')
})
