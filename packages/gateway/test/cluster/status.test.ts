import { describe, expect, test } from 'vitest'
import { redisServer, startRedis } from '../../../../test/redis.ts'
import { until } from '../../../client/test/processes.ts'
import { commanded } from '../faults/command.ts'

const secret = 'a secret that all replicas of this test share'

describe.skipIf(redisServer.isMissing)(`unfold status of a cluster${redisServer.note}`, () => {
  test('AT-M07-1 (M07): shows the replicas and Redis, and nothing secret', async () => {
    await using redis = await startRedis('--requirepass', 'password-of-redis')
    const url = `redis://:password-of-redis@127.0.0.1:${redis.port}`
    const env = { UNFOLD_CLUSTER_URL: url, UNFOLD_CLUSTER_SECRET: secret, UNFOLD_CLUSTER_PREFIX: 'status:' }
    await using first = await commanded({}, { env })
    await using second = await commanded({}, { env })
    const text = async (): Promise<string> => (await first.at.unfold(['status'])).stdout
    await until(async () => (await text()).includes('2 replicas, Redis ok'), 'both replicas are shown')
    const shown = await text()
    expect(shown).toContain('(this one)')
    expect(shown).toContain(second.url)
    expect(shown).not.toMatch(/password-of-redis|a secret that/u)
    const { cluster } = await second.status()
    expect(cluster?.replicas.map(({ address }) => address).toSorted()).toEqual([first.url, second.url].toSorted())
    await redis.stop()
    await until(async () => /Redis: [\s\S]*degraded: cluster/u.test(await text()), 'the problem is shown')
    expect(first.stderr()).toContain('Redis does not work')
    expect(first.stderr()).not.toMatch(/password-of-redis|a secret that/u)
  })

  test('unfold trust does not read local decisions of a cluster', async () => {
    await using gateway = await commanded({ store: { kind: 'memory' } }, { env: { UNFOLD_CLUSTER_SECRET: secret } })
    const { stdout, stderr } = await gateway.at.unfold(['trust', 'export'], { env: { UNFOLD_CLUSTER_URL: 'redis://x' } })
    expect(`${stdout}${stderr}`).toContain('the decisions are in Redis')
    expect((await gateway.at.unfold(['status'])).stdout).toContain('without Redis')
  })
})
