import { defineToolbox, listen } from '@unfold-mcp/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redisServer, startRedis, type TestRedis } from '../../../../test/redis.ts'
import { until } from '../../../client/test/processes.ts'
import { served } from '../served.ts'
import { clusterSecret } from './replicas.ts'

describe.skipIf(redisServer.isMissing)(`servers that one of two replicas follows${redisServer.note}`, () => {
  let redis: TestRedis

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis[Symbol.asyncDispose]())

  /** A server that counts its lists, and two gateways that share a Redis. */
  async function replicas(follow: 'each' | 'one') {
    let lists = 0
    const toolbox = defineToolbox({ name: 'shop', version: '1.0.0', listed: () => void lists++ }).tool(
      'find',
      { description: 'Finds' },
      () => 'found',
    )
    const shop = await listen(toolbox, { port: 0 })
    const config = {
      mcpServers: { shop: { url: shop.url, follow } },
      exposure: 'everything',
      cluster: { url: redis.url, secret: clusterSecret, prefix: `${follow}:` },
    }
    const [a, b] = [await served(config), await served(config)]
    await a.ready('shop')
    await b.ready('shop')
    return {
      a,
      b,
      toolbox,
      get lists() {
        return lists
      },
      async [Symbol.asyncDispose]() {
        await b[Symbol.asyncDispose]()
        await a[Symbol.asyncDispose]()
        await shop.close()
      },
    }
  }

  test.each(['each', 'one'] as const)('AT-M16-1 (M16): changes are listed by %s of them', async (follow) => {
    await using cluster = await replicas(follow)
    const before = cluster.lists
    const changes = ['buy', 'rent', 'lend', 'sell']
    for (const change of changes) {
      cluster.toolbox.tool(change, { description: change }, () => `${change} done`)
      for (const { gateway } of [cluster.a, cluster.b])
        await until(() => gateway.upstreams.tools('shop').some(({ name }) => name === change), 'the new tool is listed')
    }
    const lists = cluster.lists - before
    // On a busy machine, a replica may learn of a change after the other has read the tools.
    expect(lists < 2 * changes.length).toBe(follow === 'one')
    for (const { gateway } of [cluster.a, cluster.b])
      expect(await gateway.upstreams.get('shop')?.call('buy', {})).toMatchObject({ content: [{ text: 'buy done' }] })
  })

  test('AT-M16-2: a replica lists the tools itself while Redis is down', async () => {
    await using cluster = await replicas('one')
    redis.freeze()
    try {
      cluster.toolbox.tool('borrow', { description: 'Borrows' }, () => 'borrowed')
      for (const { gateway } of [cluster.a, cluster.b])
        await until(() => gateway.upstreams.tools('shop').some(({ name }) => name === 'borrow'), 'the new tool is listed')
    } finally {
      redis.thaw()
    }
  })
})
