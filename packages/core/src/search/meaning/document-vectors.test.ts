import { describe, expect, test } from 'vitest'
import { DocumentVectors } from './document-vectors.ts'
import { dimensions } from './table.ts'

/** Unit vector with pseudo-random values. */
function vectorFrom(seed: number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, (_, i) => Math.sin(seed * 12.9898 + i * 78.233) * (1 + (i % 7)))
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

const unit = (vector: Float32Array): Float32Array => {
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

/** Unit vector without a pattern: a linear congruential generator. */
function randomVector(seed: number): Float32Array {
  let state = Math.imul(seed, 2_654_435_761) >>> 0
  return unit(
    Float32Array.from({ length: dimensions }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state / 2 ** 32 - 0.5
    }),
  )
}

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, i) => sum + value * (b[i] as number), 0)

/** Vector with this cosine to the first axis. */
function atCosine(cosine: number): Float32Array {
  const vector = new Float32Array(dimensions)
  vector[0] = cosine
  vector[1] = Math.sqrt(1 - cosine * cosine)
  return vector
}

const query = atCosine(1)
const best = { count: 3, comesFirst: (a: number, b: number): boolean => a < b }

function vectorsAt(...cosines: readonly number[]): DocumentVectors {
  const vectors = new DocumentVectors()
  for (const [document, cosine] of cosines.entries()) vectors.set(document, atCosine(cosine))
  return vectors
}

describe('vectors of documents', () => {
  test('a byte per value keeps cosines within one percent', () => {
    const vectors = new DocumentVectors()
    const originals = Array.from({ length: 200 }, (_, document) => vectorFrom(document + 1))
    for (const [document, vector] of originals.entries()) vectors.set(document, vector)
    const asked = vectorFrom(1_000)
    const { cosine } = vectors.compare(asked, originals.length, { total: originals.length }, best)
    const errors = originals.map((vector, document) => Math.abs(cosine(document) - dot(vector, asked)))
    expect(Math.max(...errors)).toBeLessThan(0.01)
  })

  test('the closest documents are the best ones', () => {
    const { best: closest, highest } = vectorsAt(0.4, 0.9, 0.5, 0.8, 0.7).compare(query, 5, { total: 5 }, best)
    expect(closest.toSorted((a, b) => a - b)).toEqual([1, 3, 4])
    expect(highest).toBeCloseTo(0.9, 2)
  })

  test('documents with little in common with the query are not among the best', () => {
    const { best: closest } = vectorsAt(0.2, 0.1, 0.8).compare(query, 3, { total: 3 }, best)
    expect(closest).toEqual([2])
  })

  test('a removed document, or one without a vector, is not compared', () => {
    const vectors = vectorsAt(0.9, 0.8, 0.7)
    vectors.set(0, undefined)
    vectors.set(3, undefined)
    const { cosine, best: closest, highest } = vectors.compare(query, 4, { total: 2 }, best)
    expect(closest.toSorted((a, b) => a - b)).toEqual([1, 2])
    expect(cosine(0)).toBe(0)
    expect(highest).toBeCloseTo(0.8, 2)
    vectors.set(0, atCosine(0.5))
    expect(vectors.compare(query, 4, { total: 3 }, best).cosine(0)).toBeCloseTo(0.5, 2)
  })

  test('hidden documents affect neither the best, the highest nor the median', () => {
    const shown = vectorsAt(0.6, 0.5, 0.4).compare(query, 3, { total: 3 }, best)
    const visible = Uint8Array.of(1, 1, 1, 0, 0)
    const hidden = vectorsAt(0.6, 0.5, 0.4, 0.95, 0.9).compare(query, 5, { total: 3, visible }, best)
    const { cosine: ofHidden, ...rest } = hidden
    const { cosine: ofShown, ...others } = shown
    expect(rest).toEqual(others)
    expect([0, 1, 2].map(ofHidden)).toEqual([0, 1, 2].map(ofShown))
  })

  test('half of the documents are closer than the median', () => {
    const cosines = [-0.6, -0.2, 0.1, 0.5, 0.9]
    expect(Math.abs(vectorsAt(...cosines).compare(query, 5, { total: 5 }, best).median - 0.1)).toBeLessThan(0.01)
    expect(new DocumentVectors().compare(query, 0, { total: 0 }, best)).toMatchObject({ highest: 0, best: [] })
  })

  test('estimates find the closest of many documents, and the median', () => {
    const vectors = new DocumentVectors()
    const originals = Array.from({ length: 3_000 }, (_, document) => randomVector(document + 1))
    for (const [document, vector] of originals.entries()) vectors.set(document, vector)
    for (const document of [3, 700, 2_999]) {
      const noise = randomVector(10_000 + document)
      const asked = unit((originals[document] as Float32Array).map((value, i) => value + 1.2 * (noise[i] as number)))
      const { best: closest, median, highest } = vectors.compare(asked, originals.length, { total: originals.length }, best)
      const cosines = originals.map((vector) => dot(vector, asked)).sort((a, b) => a - b)
      expect(closest).toContain(document)
      expect(highest).toBeCloseTo(cosines.at(-1) as number, 1)
      expect(Math.abs(median - (cosines[1_500] as number))).toBeLessThan(0.03)
    }
  })
})
