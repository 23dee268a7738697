import { describe, expect, test } from 'vitest'
import type { Closeness } from './document-vectors.ts'
import { MeaningScores } from './fusion.ts'

/** Documents with these cosines; the median is 0.1. */
function closenessOf(...cosines: readonly number[]): Closeness {
  const documents = cosines.map((_, document) => document)
  return {
    cosine: (document) => cosines[document] ?? 0,
    median: 0.1,
    highest: Math.max(...cosines),
    best: documents.filter((document) => (cosines[document] as number) >= 0.3),
  }
}

const ownSource = (document: number): number => document
const scoresOf = (...cosines: readonly number[]): MeaningScores => new MeaningScores(closenessOf(...cosines), ownSource, true)

describe('fused scores', () => {
  test('strong words win over closeness', () => {
    const scores = scoresOf(0.2, 0.9)
    const byWords = scores.fused(0, { lexical: 10, best: 10, confidence: 'strong' })
    const byMeaning = scores.fused(1, { lexical: 7, best: 10, confidence: 'strong' })
    expect(byWords).toBeGreaterThan(byMeaning)
  })

  test('without confidence in the words, the closest tool wins over the best match', () => {
    const scores = scoresOf(0.1, 0.9)
    const byWords = scores.fused(0, { lexical: 10, best: 10, confidence: 'none' })
    const byMeaning = scores.fused(1, { lexical: 0, best: 10, confidence: 'none' })
    expect(byMeaning).toBeGreaterThan(byWords)
  })

  test('closeness decides between equal words', () => {
    const scores = scoresOf(0.4, 0.8)
    for (const confidence of ['strong', 'weak', 'none'] as const) {
      const score = { lexical: 5, best: 5, confidence }
      expect(scores.fused(1, score)).toBeGreaterThan(scores.fused(0, score))
    }
  })

  test('of two close tools, the one whose name was asked for wins', () => {
    const scores = scoresOf(0.8, 0.8)
    const score = { lexical: 0, best: 10, confidence: 'none' } as const
    expect(scores.fused(0, { ...score, nameFactor: 1.15 })).toBeGreaterThan(scores.fused(1, score))
  })

  test('a tool below the median loses nothing', () => {
    const scores = scoresOf(-0.5, 0.09, 0.9)
    const score = { lexical: 5, best: 10, confidence: 'weak' } as const
    expect(scores.fused(0, score)).toBe(scores.fused(1, score))
  })

  test('if all tools are equally far, only words count', () => {
    const scores = scoresOf(0.1, 0.1)
    expect(scores.fused(0, { lexical: 5, best: 10, confidence: 'strong' })).toBe(5)
  })

  test('only tools that stand out are found without a matching word', () => {
    expect(scoresOf(0.9, 0.7, 0.4, 0.2).standingOut).toEqual([0, 1])
  })
})

describe('a source with many tools that are equally close', () => {
  const cosines = [...Array.from({ length: 5 }, () => 0.9), 0.75]
  const sourceOf = (document: number): number => (document < 5 ? 1 : 2)
  const score = { lexical: 0, best: 10, confidence: 'none' } as const

  test('does not displace the tool of another source', () => {
    const scores = new MeaningScores(closenessOf(...cosines), sourceOf, true)
    expect(scores.fused(5, score)).toBeGreaterThan(scores.fused(0, score))
  })

  test('is first as usual if it is the only source', () => {
    const scores = new MeaningScores(closenessOf(...cosines), sourceOf, false)
    expect(scores.fused(0, score)).toBeGreaterThan(scores.fused(5, score))
  })

  test('four of them are no flood', () => {
    const scores = new MeaningScores(closenessOf(...cosines.slice(1)), (document) => (document < 4 ? 1 : 2), true)
    expect(scores.fused(0, score)).toBeGreaterThan(scores.fused(4, score))
  })
})
