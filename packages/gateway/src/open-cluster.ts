import { randomUUID } from 'node:crypto'
import type { Log } from './base/log.ts'
import { parseRedisUrl } from './base/redis-url.ts'
import type { ReplicaPlacement } from './cluster/placement/replica-placement.ts'
import type { ReadConfig } from './config/read.ts'

/** What this replica shares with others. */
export interface Cluster extends AsyncDisposable {
  readonly replica: string
  readonly placement: ReplicaPlacement
}

/** Connects to the Redis of the cluster; `undefined` without one. */
export async function openCluster(
  { config: { cluster } }: ReadConfig,
  log: Log,
  onStatus: (problem: string | undefined) => void,
): Promise<Cluster | undefined> {
  const { url, secret, prefix, leaseMs, advertise } = cluster ?? {}
  const target = url === undefined ? undefined : parseRedisUrl(url)
  if (target === undefined || secret === undefined || prefix === undefined || leaseMs === undefined) return undefined
  const { openRedis } = await import('./cluster/redis.ts')
  const { ReplicaPlacement } = await import('./cluster/placement/replica-placement.ts')
  const redis = await openRedis({ target, prefix })
  redis.onStatus(onStatus)
  onStatus(redis.problem)
  const replica = randomUUID()
  const placement = new ReplicaPlacement({ redis, replica, secret, leaseMs, advertise, log })
  return { replica, placement, [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose]() }
}
