import { randomBytes } from 'node:crypto'
import type { SessionStore } from '@unfold-mcp/server'
import { parseRedisUrl } from './base/redis-url.ts'
import type { ReadConfig } from './config/read.ts'

export interface Cluster extends AsyncDisposable {
  readonly sessions: SessionStore
}

/** Connects to the state that the replicas share; `undefined` for a single process. */
export async function openCluster({ config: { cluster } }: ReadConfig): Promise<Cluster | undefined> {
  const target = cluster?.url === undefined ? undefined : parseRedisUrl(cluster.url)
  if (cluster === undefined || target === undefined) return undefined
  const [{ openRedis }, { RedisSessions }] = await Promise.all([
    import('./cluster/redis.ts'),
    import('./cluster/session-store.ts'),
  ])
  const redis = await openRedis({ target, prefix: cluster.prefix ?? 'unfold:' })
  const sessions = await RedisSessions.open(redis, { replica: randomBytes(8).toString('hex'), isAlive: () => true })
  return {
    sessions,
    async [Symbol.asyncDispose]() {
      await sessions[Symbol.asyncDispose]()
      await redis[Symbol.asyncDispose]()
    },
  }
}
