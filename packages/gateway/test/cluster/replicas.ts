import { randomUUID } from 'node:crypto'
import type { TestRedis } from '../../../../test/redis.ts'
import { served } from '../served.ts'

export const clusterSecret = 'a secret that all replicas of the tests share'

/** Makes the lease of a server free at once: one that Redis does not know is free after a lease time. */
export function freeLease(redis: TestRedis, server: string, prefix = 'unfold:'): void {
  const [, run = ''] = /run_id:(\w+)/u.exec(redis.cli('INFO', 'server')) ?? []
  redis.cli('HSET', `${prefix}lease:${server}`, 'until', '0', 'token', '0', 'run', run)
}

/** Two gateways that share a Redis; `one` runs on one of them. */
export async function replicas(redis: TestRedis, one: object, { cluster = {} }: { readonly cluster?: object } = {}) {
  // The clusters of a test file share a Redis.
  const prefix = `${randomUUID()}:`
  freeLease(redis, 'one', prefix)
  const config = {
    mcpServers: { one: { ...one, placement: 'one' } },
    exposure: 'everything',
    cluster: { url: redis.url, secret: clusterSecret, prefix, ...cluster },
  }
  const holder = await served(config)
  await holder.ready('one')
  const other = await served(config)
  await other.ready('one')
  return {
    prefix,
    holder,
    other,
    async [Symbol.asyncDispose]() {
      await other[Symbol.asyncDispose]()
      await holder[Symbol.asyncDispose]()
    },
  }
}
