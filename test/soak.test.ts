import { expect, test } from 'vitest'
import { leaksOf } from '../bench/src/soak/judge.ts'
import { soak } from '../bench/src/soak/soak.ts'

// `npm run soak` runs for thirty minutes.
test('a gateway leaks no memory, file descriptors or processes in a minute of random use', { timeout: 300_000 }, async () => {
  const result = await soak({ minutes: 1, seed: 20_260_728 })
  expect(leaksOf(result)).toEqual([])
  expect(Object.keys(result.counts)).toContain('session with calls')
})
