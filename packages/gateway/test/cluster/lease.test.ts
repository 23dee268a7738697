import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redisServer, startRedis, type TestRedis } from '../../../../test/redis.ts'
import { until } from '../../../client/test/processes.ts'
import { parseRedisUrl } from '../../src/base/redis-url.ts'
import { type Attempt, type Lease, Leases } from '../../src/cluster/lease.ts'
import { openRedis, type Redis } from '../../src/cluster/redis.ts'

describe.skipIf(redisServer.isMissing)(`a lease on Redis${redisServer.note}`, () => {
  let server: TestRedis
  let redis: Redis

  beforeAll(async () => {
    server = await startRedis()
    const target = parseRedisUrl(server.url)
    if (target === undefined) throw new Error('no target')
    redis = await openRedis({ target, prefix: 'test:' })
  })
  afterAll(async () => {
    await redis[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  const replica = (name: string, leaseMs = 2_000): Leases => new Leases({ redis, replica: name, leaseMs })

  /** Tries until the lease is acquired. */
  async function acquired(leases: Leases, name: string): Promise<Lease> {
    // A name that Redis does not know yet is free after one lease time, so the first attempt is for a short one.
    if (server.cli('EXISTS', `test:lease:${name}`) === '0') await replica('first', 100).acquire(name, 'http://replica.test:1')
    let attempt: Attempt | undefined
    await until(async () => {
      attempt = await leases.acquire(name, 'http://replica.test:1').catch(() => undefined)
      return attempt !== undefined && 'lease' in attempt
    }, `the lease ${name}`)
    if (attempt === undefined || !('lease' in attempt)) throw new Error('no lease')
    return attempt.lease
  }

  test('has one holder, whom the others know, and moves when it is released', async () => {
    const [a, b] = [replica('a'), replica('b')]
    const held = await acquired(a, 'one')
    expect(held.isHeld).toBe(true)
    expect(await b.acquire('one', 'http://replica.test:1')).toMatchObject({
      holder: { replica: 'a', address: 'http://replica.test:1', token: held.token },
    })
    await held.release()
    expect(held.isHeld).toBe(false)
    const next = await b.acquire('one', 'http://replica.test:1')
    if (!('lease' in next)) throw new Error('not released')
    expect(Number(next.lease.token)).toBeGreaterThan(Number(held.token))
    // A late release of an earlier holder has no effect.
    await held.release()
    expect(await a.acquire('one', 'http://replica.test:1')).toMatchObject({ holder: { replica: 'b' } })
    await next.lease.release()
  })

  test('is renewed while its holder works, and expires when it does not', async () => {
    const [a, b] = [replica('a'), replica('b')]
    const held = await acquired(a, 'renewed')
    const renewed: number[] = []
    held.onRenewed(({ stopAt }) => renewed.push(stopAt))
    await until(() => renewed.length > 4, 'renewals for more than a lease time')
    expect(held.isHeld).toBe(true)
    expect(await b.acquire('renewed', 'http://replica.test:1')).toMatchObject({ holder: { token: held.token } })
    // Another process would hold it now; this one no longer does.
    server.cli('HSET', 'test:lease:renewed', 'token', '1')
    await until(() => held.lost.aborted, 'its loss')
    expect(held.isHeld).toBe(false)
  })

  test('AT-M13-1 (M13): is not given to another replica while a holder that Redis has forgotten may still use it', async () => {
    const [a, b] = [replica('a'), replica('b')]
    const held = await acquired(a, 'forgotten')
    server.cli('FLUSHALL')
    expect(await b.acquire('forgotten', 'http://replica.test:1')).toMatchObject({ holder: undefined })
    const next = await acquired(b, 'forgotten')
    expect(held.isHeld).toBe(false)
    expect(Number(next.token)).toBeGreaterThan(Number(held.token))
    await next.release()
  })

  test('is kept over a restart of Redis with its data, but a record of an earlier process does not make it free', async () => {
    const [a, b] = [replica('a', 20_000), replica('b')]
    const held = await acquired(a, 'restarted')
    const released = await acquired(b, 'free')
    await released.release()
    await server.stop()
    await server.start()
    await until(() => redis.problem === undefined, 'the connection')
    expect(await b.acquire('restarted', 'http://replica.test:1')).toMatchObject({ holder: { replica: 'a' } })
    // The last writes before a failover may be lost, and one of them may have given it to another replica.
    expect(await b.acquire('free', 'http://replica.test:1')).toMatchObject({ holder: undefined })
    expect(held.isHeld).toBe(true)
    await held.release()
  })

  test('AT-M13-2: a foreign or damaged record never makes anyone a holder', async () => {
    const leases = replica('a')
    server.cli('SET', 'test:lease:foreign', 'text')
    await expect(leases.acquire('foreign', 'http://replica.test:1')).rejects.toThrow('WRONGTYPE')
    server.cli('HSET', 'test:lease:damaged', 'until', 'soon', 'replica', 'x')
    expect(await leases.acquire('damaged', 'http://replica.test:1')).toMatchObject({ holder: undefined })
    server.cli('HSET', 'test:lease:endless', 'until', '99999999999999', 'replica', 'x')
    expect(await leases.acquire('endless', 'http://replica.test:1')).toMatchObject({ holder: undefined })
    await (await acquired(leases, 'endless')).release()
  })

  test('is lost when Redis does not reply in time', async () => {
    const held = await acquired(replica('a'), 'frozen')
    server.freeze()
    try {
      await until(() => held.lost.aborted, 'its loss')
    } finally {
      server.thaw()
    }
  })
})
