import { describe, expect, test } from 'vitest'
import { redisServer } from '../redis.ts'
import { runs } from '../runs.ts'
import { runHistory } from './history.ts'

const first = Number(process.env.UNFOLD_SEED ?? 20_260_728)

describe.skipIf(redisServer.isMissing)(`three replicas on Redis${redisServer.note}`, () => {
  const seeds = Array.from({ length: runs({ long: 200, sample: 10 }) }, (_, index) => first + index * 100)

  test.each(seeds.slice(0, Number(process.env.UNFOLD_N ?? 10)))(
    'lose and repeat nothing while replicas, Redis and the network fail (seed %i)',
    { timeout: 600_000 },
    async (seed) => {
      const { violations, log, counts } = await runHistory({ seed, requests: 40, faults: 6 })
      if (process.env.UNFOLD_N !== undefined) console.log(JSON.stringify(counts))
      if (violations.length > 0) console.error(log.join('\n'))
      expect(violations).toEqual([])
    },
  )
})
