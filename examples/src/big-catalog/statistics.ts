import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { rounded } from './rounding.ts'
import type { Shelf } from './shelves.ts'

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const mean = (values: readonly number[]): number => sum(values) / values.length
const variance = (values: readonly number[]): number => sum(values.map((value) => (value - mean(values)) ** 2)) / values.length
const sorted = (values: readonly number[]): readonly number[] => values.toSorted((a, b) => a - b)

/** Returns a quantile with linear interpolation. */
function quantile(values: readonly number[], share: number): number {
  const ordered = sorted(values)
  const position = share * (ordered.length - 1)
  const below = ordered[Math.floor(position)] ?? 0
  const above = ordered[Math.ceil(position)] ?? 0
  return below + (above - below) * (position - Math.floor(position))
}

const computed: { readonly [name: string]: readonly [description: string, work: (values: readonly number[]) => number] } = {
  sum: ['Sum (total) of numbers.', sum],
  mean: ['Mean (average) of numbers.', mean],
  median: ['Median of numbers: the one in the middle.', (values) => quantile(values, 0.5)],
  smallest: ['The smallest (minimum) of numbers.', (values) => Math.min(...values)],
  largest: ['The largest (maximum) of numbers.', (values) => Math.max(...values)],
  spread: [
    'How far the smallest and the largest number lie apart (range).',
    (values) => Math.max(...values) - Math.min(...values),
  ],
  variance: ['Variance of numbers, of a whole population.', variance],
  standard_deviation: ['Standard deviation of numbers, of a whole population.', (values) => Math.sqrt(variance(values))],
  lower_quartile: ['The lower quartile of numbers.', (values) => quantile(values, 0.25)],
  upper_quartile: ['The upper quartile of numbers.', (values) => quantile(values, 0.75)],
  interquartile_range: ['How far the quartiles lie apart.', (values) => quantile(values, 0.75) - quantile(values, 0.25)],
  geometric_mean: ['Geometric mean of positive numbers.', (values) => Math.exp(mean(values.map(Math.log)))],
  harmonic_mean: ['Harmonic mean of positive numbers.', (values) => values.length / sum(values.map((value) => 1 / value))],
  root_mean_square: [
    'Root mean square (quadratic mean) of numbers.',
    (values) => Math.sqrt(mean(values.map((value) => value ** 2))),
  ],
}

export function addStatistics(workshop: Toolbox<Shelf>): void {
  const shelf = { group: 'statistics', readOnly: true } as const
  const numbers = z.array(z.number()).min(1).max(10_000)
  for (const [name, [description, work]] of Object.entries(computed)) {
    workshop.tool(`${name}_of_numbers`, { ...shelf, description, inputSchema: z.object({ values: numbers }) }, ({ values }) => {
      const value = work(values)
      if (!Number.isFinite(value)) throw new Error('This mean is not defined for these numbers: all must be above 0.')
      return { value: rounded(value) }
    })
  }

  workshop.tool(
    'percentile_of_numbers',
    {
      ...shelf,
      description: 'A percentile of numbers.',
      inputSchema: z.object({ values: numbers, percent: z.number().min(0).max(100) }),
    },
    ({ values, percent }) => ({
      value: rounded(quantile(values, percent / 100)),
    }),
  )
  workshop.tool(
    'rank_numbers',
    { ...shelf, description: 'Sort numbers, smallest first.', inputSchema: z.object({ values: numbers }) },
    ({ values }) => ({ sorted: sorted(values) }),
  )
  workshop.tool(
    'most_frequent_numbers',
    { ...shelf, description: 'The most frequent numbers (mode) of a list.', inputSchema: z.object({ values: numbers }) },
    ({ values }) => {
      const counts = new Map<number, number>()
      for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
      const most = Math.max(...counts.values())
      return { values: [...counts].filter(([, count]) => count === most).map(([value]) => value), times: most }
    },
  )
  workshop.tool(
    'linear_trend',
    {
      ...shelf,
      description: 'The straight line that fits points best (linear regression), with their correlation.',
      inputSchema: z.object({ x: numbers.min(2), y: numbers.min(2) }),
    },
    ({ x, y }) => {
      if (x.length !== y.length) throw new Error(`x has ${x.length} numbers and y has ${y.length}; both need the same count.`)
      const shared = mean(x.map((value, index) => (value - mean(x)) * ((y[index] ?? 0) - mean(y))))
      if (variance(x) === 0) throw new Error('All x are the same, so no line fits.')
      const slope = shared / variance(x)
      return {
        slope: rounded(slope),
        intercept: rounded(mean(y) - slope * mean(x)),
        correlation: variance(y) === 0 ? null : rounded(shared / Math.sqrt(variance(x) * variance(y))),
      }
    },
  )
}
