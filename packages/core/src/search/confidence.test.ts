import { expect, test } from 'vitest'
import { type ClauseEvidence, type Confidence, certaintyOf, type Evidence, type FirstEvidence, rated } from './confidence.ts'

const all = { coverage: 1, knownCoverage: 1, nameShare: 1, amount: 1, isSpecific: true }
const nothing = { coverage: 0, knownCoverage: 0, nameShare: 0, amount: 0, isSpecific: false }

/** Evidence from a query of five words, or as many as `changes` say. */
const firstOf = (best: Evidence, changes: Partial<FirstEvidence> = {}): FirstEvidence => ({
  weight: 1,
  best,
  words: 5,
  lacksRarest: false,
  lacksKnown: false,
  ...changes,
})

/** Confidence from words alone. */
const confidenceOf = (clauses: readonly ClauseEvidence[], first = firstOf(all)): Confidence => rated(certaintyOf(clauses, first))

test('full coverage of the query is a strong match, and no coverage is none', () => {
  expect(confidenceOf([{ weight: 1, best: all }])).toBe('strong')
  expect(confidenceOf([{ weight: 1, best: nothing }])).toBe('none')
  expect(confidenceOf([])).toBe('none')
})

test('an unusual name weakens a match without excluding it', () => {
  expect(confidenceOf([{ weight: 1, best: { ...all, nameShare: 0, coverage: 0.5, amount: 0.5 } }])).toBe('weak')
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
  const justStrong = { ...all, coverage: 0.5, nameShare: 0.3, amount: 0.6 }
  expect(confidenceOf([{ weight: 1, best: justStrong }])).toBe('strong')
  expect(confidenceOf([{ weight: 1, best: nothing, others: [justStrong] }])).toBe('weak')
})

const half = { ...all, coverage: 0.7, nameShare: 0.4, amount: 0.5 }
const clausesOf = (best: Evidence): readonly ClauseEvidence[] => [{ weight: 1, best }]

/** Certainty from words and meaning. */
const certaintyWith = (best: Evidence, cosine: number, first = firstOf(best), firstCosine = cosine): number =>
  certaintyOf(clausesOf(best), first, { cosine, firstCosine })

test('closeness in meaning raises the certainty of a match, and alone it is never strong', () => {
  expect(rated(certaintyWith(half, 0.1))).toBe('weak')
  expect(rated(certaintyWith(half, 0.9))).toBe('strong')
  expect(rated(certaintyWith(nothing, 0.1))).toBe('none')
  expect(rated(certaintyWith(nothing, 0.9))).toBe('weak')
})

test('a first match that is far in meaning is not strong because a later one is close', () => {
  expect(rated(certaintyWith(half, 0.9, firstOf(half), 0.1))).toBe('weak')
})

test('tools with the words of a clause are not strong if the first match does not have the words of the query', () => {
  expect(rated(certaintyWith(all, 0.6))).toBe('strong')
  expect(rated(certaintyWith(all, 0.6, firstOf(nothing)))).toBe('weak')
})

test('a poor first match does not hide a good one from another source', () => {
  expect(rated(certaintyWith(nothing, 0.6, firstOf(nothing, { others: [all] })))).toBe('strong')
})

test('a short request whose rarest word is missing is less certain', () => {
  expect(certaintyWith(half, 0.4, firstOf(half, { lacksRarest: true }))).toBeLessThan(certaintyWith(half, 0.4))
})

test('a match without the rarest word that tools have is never strong, however close it is', () => {
  const lacking = firstOf(all, { lacksKnown: true })
  expect(rated(certaintyWith(all, 0.9, lacking))).toBe('weak')
  expect(confidenceOf(clausesOf(all), lacking)).toBe('weak')
})

test('a match with one of two words is not strong', () => {
  const invoice = { ...all, coverage: 0.6, knownCoverage: 0.6 }
  expect(rated(certaintyWith(invoice, 0.7, firstOf(invoice, { words: 2 })))).toBe('weak')
  expect(rated(certaintyWith(invoice, 0.7, firstOf(invoice, { words: 8 })))).toBe('strong')
})

test('a verb and the name of a server are not enough for a strong match', () => {
  const general = { ...all, isSpecific: false }
  expect(rated(certaintyWith(general, 0.7))).toBe('weak')
  expect(confidenceOf(clausesOf(general), firstOf(general))).toBe('weak')
})

test('a tool with every word of the query is a match, however far its meaning', () => {
  expect(rated(certaintyWith({ ...all, nameShare: 0, amount: 0.1 }, -0.2))).toBe('weak')
})

test('the minimum decides what counts as a match', () => {
  expect(rated(0.5, 0.6)).toBe('none')
  expect(rated(0.3, 0.2)).toBe('weak')
})
