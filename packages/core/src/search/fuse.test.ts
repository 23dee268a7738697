import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cosine, fuse } from './fuse.ts'
import type { SearchResult } from './search-result.ts'

const answer = (confidence: SearchResult['confidence'], ...scores: readonly number[]): SearchResult => ({
  matches: scores.map((score, index) => ({ id: `word${index}`, score, isNamed: false })),
  total: 100,
  confidence,
  unmatched: [],
  certainty: 0.5,
})

const idsOf = ({ matches }: SearchResult): string[] => matches.map(({ id }) => id)

test('the best literal match stays before merely similar tools', () => {
  const fused = fuse(answer('strong', 0.8, 0.3), [
    { id: 'meaning', score: 0.99 },
    { id: 'far', score: 0.1 },
  ])
  expect(idsOf(fused)).toEqual(['word0', 'meaning', 'word1', 'far'])
})

test('semantic matches decide if lexical matches are weak', () => {
  expect(
    idsOf(
      fuse(answer('none', 0.1), [
        { id: 'meaning', score: 0.9 },
        { id: 'far', score: 0.2 },
      ]),
    ),
  ).toEqual(['meaning', 'word0', 'far'])
})

test('a tool found by both comes first', () => {
  const fused = fuse(answer('strong', 0.8, 0.7), [
    { id: 'word1', score: 0.9 },
    { id: 'far', score: 0.1 },
  ])
  expect(idsOf(fused).slice(0, 2)).toEqual(['word1', 'word0'])
})

test('a tool that the query names stays first, whatever the vectors', () => {
  const named: SearchResult = {
    ...answer('strong', 0.9),
    matches: [
      { id: 'named', score: 0.1, isNamed: true },
      { id: 'word', score: 0.9, isNamed: false },
    ],
  }
  expect(
    idsOf(
      fuse(named, [
        { id: 'word', score: 1 },
        { id: 'other', score: 0 },
      ]),
    )[0],
  ).toBe('named')
})

test('without semantic matches the lexical result is returned', () => {
  const lexical = answer('weak', 0.5, 0.4)
  expect(fuse(lexical, [])).toEqual(lexical)
  expect(fuse(lexical, [{ id: 'broken', score: Number.NaN }])).toEqual(lexical)
  expect(idsOf(fuse(lexical, [], 1))).toEqual(['word0'])
})

test('a purely semantic result is weak, not empty', () => {
  expect(fuse(answer('none'), [{ id: 'meaning', score: 0.9 }]).confidence).toBe('weak')
})

test('the similarity of equal vectors is 1, of opposite ones -1, of others between', () => {
  expect(cosine(Float32Array.of(1, 2), Float32Array.of(2, 4))).toBeCloseTo(1)
  expect(cosine(Float32Array.of(1, 2), Float32Array.of(-1, -2))).toBeCloseTo(-1)
  const vector = fc.float32Array({ minLength: 3, maxLength: 3 })
  fc.assert(fc.property(vector, vector, (a, b) => Math.abs(cosine(a, b)) <= 1))
})

test('vectors that cannot be compared have no similarity', () => {
  expect(cosine(Float32Array.of(1), Float32Array.of(1, 0))).toBe(0)
  expect(cosine(Float32Array.of(0, 0), Float32Array.of(1, 0))).toBe(0)
  expect(cosine(Float32Array.of(Number.NaN, 0), Float32Array.of(1, 0))).toBe(0)
})
