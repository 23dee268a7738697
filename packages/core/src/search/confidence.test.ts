import { expect, test } from 'vitest'
import { type ClauseEvidence, type Confidence, certaintyOf, type MeaningSupport, rated } from './confidence.ts'

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

const supportOf = (first: readonly ClauseEvidence[], cosine: number, firstCosine = cosine): MeaningSupport => ({
  first: first[0] as ClauseEvidence,
  cosine,
  firstCosine,
  lacksRarest: false,
})

test('closeness in meaning raises the certainty of a match, and alone it is never strong', () => {
  expect(rated(certaintyOf(half, supportOf(half, 0.1)))).toBe('weak')
  expect(rated(certaintyOf(half, supportOf(half, 0.9)))).toBe('strong')
  expect(rated(certaintyOf(none, supportOf(none, 0.1)))).toBe('none')
  expect(rated(certaintyOf(none, supportOf(none, 0.9)))).toBe('weak')
})

test('a first match that is far in meaning is not strong because a later one is close', () => {
  expect(rated(certaintyOf(half, supportOf(half, 0.9, 0.1)))).toBe('weak')
})

test('tools with the words of a clause are not strong if the first match does not have the words of the query', () => {
  const clauses = [{ weight: 1, best: all }]
  expect(rated(certaintyOf(clauses, supportOf(clauses, 0.6)))).toBe('strong')
  expect(rated(certaintyOf(clauses, supportOf(none, 0.6)))).toBe('weak')
})

test('a poor first match does not hide a good one from another source', () => {
  const first = [{ weight: 1, best: nothing, others: [all] }]
  expect(rated(certaintyOf(none, supportOf(first, 0.6)))).toBe('strong')
})

test('a short request whose rarest word is missing is less certain', () => {
  const support = supportOf(half, 0.4)
  expect(certaintyOf(half, { ...support, lacksRarest: true })).toBeLessThan(certaintyOf(half, support))
})

test('a tool with every word of the query is a match, however far its meaning', () => {
  const covered = [{ weight: 1, best: { coverage: 1, nameShare: 0, amount: 0.1 } }]
  expect(rated(certaintyOf(covered, supportOf(covered, -0.2)))).toBe('weak')
})

test('the minimum decides what counts as a match', () => {
  expect(rated(0.5, 0.6)).toBe('none')
  expect(rated(0.3, 0.2)).toBe('weak')
})
