import { cosine } from '@unfold-mcp/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dotProduct, normalize, outliers } from './similarity.ts'

const scored = (scores: readonly number[]) => scores.map((score, index) => ({ id: `tool-${index}`, score }))

test('one much higher score is an outlier, with any number of others', () => {
  for (const count of [2, 3, 5, 10, 100]) {
    expect(outliers(scored([0.8, ...Array.from({ length: count - 1 }, () => 0.3)])).map(({ id }) => id)).toEqual(['tool-0'])
  }
})

test('several good matches do not hide each other', () => {
  expect(outliers(scored([0.7, 0.8, 0.75, 0.3, 0.28, 0.32, 0.3])).map(({ id }) => id)).toEqual(['tool-1', 'tool-2', 'tool-0'])
})

test('similar scores have no outlier', () => {
  expect(outliers(scored([0.8, 0.79, 0.81, 0.82, 0.78]))).toEqual([])
  expect(outliers(scored([0.9]))).toEqual([])
  expect(outliers([])).toEqual([])
})

test('many similar tools of one source do not hide an outlier of another', () => {
  const flood = Array.from({ length: 12 }, (_, index) => ({ id: `flood-${index}`, score: 0.79 }))
  const others = [0.8, 0.3, 0.31, 0.29].map((score, index) => ({ id: `other-${index}`, score }))
  const sourceOf = ({ id }: { readonly id: string }): string => id.split('-')[0] as string
  expect(outliers([...flood, ...others])).toEqual([])
  expect(outliers([...flood, ...others], sourceOf).map(({ id }) => id)).toEqual(['other-0'])
})

test('outliers are a subset of the matches, best first', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -1, max: 1, noNaN: true })), (scores) => {
      const all = scored(scores)
      const found = outliers(all)
      expect(found.every((match) => all.includes(match))).toBe(true)
      expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a))
    }),
  )
})

test('the dot product of normalized vectors is the cosine of the vectors', () => {
  const vectors = fc.integer({ min: 1, max: 9 }).chain((length) => {
    const vector = fc.float32Array({ minLength: length, maxLength: length, noNaN: true, min: -1_000, max: 1_000 })
    return fc.tuple(vector, vector)
  })
  fc.assert(
    fc.property(vectors, ([a, b]) => {
      expect(dotProduct(normalize(a), normalize(b))).toBeCloseTo(cosine(a, b), 4)
    }),
  )
})
