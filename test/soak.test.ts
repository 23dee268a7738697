import { expect, test } from 'vitest'
import { leaksOf } from '../bench/src/soak/judge.ts'
import { type Soak, soak } from '../bench/src/soak/soak.ts'
import { runs } from './runs.ts'

// `npm run soak` runs for thirty minutes.
test('a gateway leaks no memory, file descriptors or processes in random use', { timeout: 300_000 }, async () => {
  const result = await soak({ minutes: 1, seed: 20_260_728, maxActions: runs({ long: Infinity, sample: 120 }) })
  expect(leaksOf(result)).toEqual([])
  expect(Object.keys(result.counts)).toContain('session with calls')
})

/** A soak of one minute with these measurements: completed actions and megabytes. */
const minuteOf = (samples: readonly (readonly [actions: number, megabytes: number])[]): Soak => ({
  samples: samples.map(([actions, megabytes], index) => ({
    minute: (index + 1) / 6,
    actions,
    memoryBytes: megabytes * 1e6,
    rssBytes: 150e6,
    descriptors: 40,
    servers: 2,
    lagP99Ms: 100,
  })),
  counts: {},
  leftServers: [],
})

// Measured on a busy machine, which completes few actions: an old version with a leak, and one without.
const leaking = [
  [90, 37.4],
  [187, 39.6],
  [286, 42.2],
  [369, 44.9],
  [500, 48.1],
  [554, 50],
] as const
const sound = [
  [9, 34.5],
  [60, 35.9],
  [126, 36.6],
  [208, 37.5],
  [251, 37.6],
  [344, 38.5],
] as const

test('a minute shows a leak by the trend of the memory per action', () => {
  expect(leaksOf(minuteOf(leaking))).toEqual([expect.stringMatching(/^memory grew by 10\.\d MB in 367 actions, from 39\.6 MB/u)])
  expect(leaksOf(minuteOf(sound))).toEqual([])
  // A single high measurement is not a trend.
  expect(leaksOf(minuteOf(sound.map(([actions, megabytes], index) => [actions, index === 5 ? 60 : megabytes])))).toEqual([])
  // More actions, and a larger leak.
  expect(leaksOf(minuteOf(leaking.map(([actions, megabytes], index) => [10 * actions, megabytes + 5 * index])))).toHaveLength(1)
})
