import { cosine } from '@unfold-mcp/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { product, standingOut, unit } from './nearness.ts'

const scored = (scores: readonly number[]) => scores.map((score, index) => ({ id: `tool-${index}`, score }))

test('one that is much nearer than the others stands out, with any number of others', () => {
  for (const count of [2, 3, 5, 10, 100]) {
    expect(standingOut(scored([0.8, ...Array.from({ length: count - 1 }, () => 0.3)])).map(({ id }) => id)).toEqual(['tool-0'])
  }
})

test('several that fit do not hide each other', () => {
  expect(standingOut(scored([0.7, 0.8, 0.75, 0.3, 0.28, 0.32, 0.3])).map(({ id }) => id)).toEqual(['tool-1', 'tool-2', 'tool-0'])
})

test('where all are about as near as each other, none stands out', () => {
  expect(standingOut(scored([0.8, 0.79, 0.81, 0.82, 0.78]))).toEqual([])
  expect(standingOut(scored([0.9]))).toEqual([])
  expect(standingOut([])).toEqual([])
})

test('it gives some of what it got, nearest first', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -1, max: 1, noNaN: true })), (scores) => {
      const all = scored(scores)
      const found = standingOut(all)
      expect(found.every((match) => all.includes(match))).toBe(true)
      expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a))
    }),
  )
})

test('the product of two unit vectors is the cosine of the vectors they were made from', () => {
  const vectors = fc.integer({ min: 1, max: 9 }).chain((length) => {
    const vector = fc.float32Array({ minLength: length, maxLength: length, noNaN: true, min: -1_000, max: 1_000 })
    return fc.tuple(vector, vector)
  })
  fc.assert(
    fc.property(vectors, ([a, b]) => {
      expect(product(unit(a), unit(b))).toBeCloseTo(cosine(a, b), 4)
    }),
  )
})
