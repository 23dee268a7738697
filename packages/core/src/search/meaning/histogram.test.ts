import { expect, test } from 'vitest'
import { Histogram } from './histogram.ts'

function histogramOf(...cosines: readonly number[]): Histogram {
  const histogram = new Histogram()
  for (const cosine of cosines) histogram.add(cosine)
  return histogram
}

test('the median is within one bin of the exact one', () => {
  expect(histogramOf(-0.6, -0.2, 0.1, 0.5, 0.9).median).toBeCloseTo(0.1, 2)
  expect(new Histogram().median).toBe(0)
})

test('the top bins hold at least the highest cosines', () => {
  const histogram = histogramOf(-0.5, 0, 0.4, 0.8)
  const bins = [-0.5, 0, 0.4, 0.8].map((cosine) => new Histogram().add(cosine))
  expect([1, 2, 4].map((count) => histogram.topBin(count))).toEqual([bins[3], bins[2], bins[0]])
  expect(histogram.topBin(10)).toBe(1)
})

test('the middle bins hold at least as many cosines as asked for, and all if there are fewer', () => {
  const histogram = histogramOf(-0.9, -0.1, 0, 0.1, 0.9)
  const { from, to } = histogram.middleBins(3)
  const isInside = [-0.9, -0.1, 0, 0.1, 0.9].map((cosine) => {
    const bin = new Histogram().add(cosine)
    return bin >= from && bin <= to
  })
  expect(isInside).toEqual([false, true, true, true, false])
  expect(histogram.middleBins(100)).toEqual({ from: 1, to: 1_024 })
})

test('cosines beyond one because of rounding are in the outer bins', () => {
  expect([-1.001, 1.001].map((cosine) => new Histogram().add(cosine))).toEqual([1, 1_024])
})
