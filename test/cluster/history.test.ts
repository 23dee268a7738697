import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redisServer } from '../redis.ts'
import { runs } from '../runs.ts'
import { guestOf } from './guest.ts'
import { runHistory } from './history.ts'
import { createWorld, type World } from './world.ts'

// A failed history is repeated with UNFOLD_SEED=<seeds> npx vitest run test/cluster/history.test.ts
const only = process.env.UNFOLD_SEED
const seeds =
  only === undefined
    ? Array.from({ length: runs({ long: 200, sample: 5 }) }, (_, index) => 20_260_728 + index * 100)
    : only.split(',').map(Number)

describe.skipIf(redisServer.isMissing)(`three replicas on Redis${redisServer.note}`, () => {
  let world: World

  beforeAll(async () => {
    world = await createWorld(seeds.map(guestOf))
  }, 600_000)

  afterAll(async () => {
    await world?.[Symbol.asyncDispose]()
  })

  test.each(seeds)(
    'AT-M08-1 (M08): lose and repeat nothing while replicas, Redis and the network fail (seed %i)',
    { timeout: 600_000 },
    async (seed) => {
      const { violations, log, counts } = await runHistory(world, { seed, requests: 25, faults: 4 })
      if (violations.length > 0 || only !== undefined) console.error([...log, ...violations].join('\n'))
      expect(violations).toEqual([])
      // Otherwise the history says nothing.
      expect(Object.keys(counts)).toEqual(expect.arrayContaining(['activated', 'called', 'listed']))
    },
  )
})
