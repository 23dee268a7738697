import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { replaceFile } from '@unfold-mcp/core/files'
import type { Log } from './base/log.ts'
import { parseRedisUrl } from './base/redis-url.ts'
import type { Replica } from './base/replica.ts'
import type { DataEpoch } from './cluster/epoch.ts'
import { clusterKey } from './cluster/keys.ts'
import type { ReplicaPlacement } from './cluster/placement/replica-placement.ts'
import type { Redis } from './cluster/redis.ts'
import type { Replicas } from './cluster/replicas.ts'
import type { RedisSessions } from './cluster/sessions/session-store.ts'
import type { ClusterStatus } from './cluster/status.ts'
import { reachableUrl } from './config/address.ts'
import type { ReadConfig } from './config/read.ts'
import type { ListReads } from './upstreams/connection.ts'

/** State that the replicas share through Redis. */
export interface SharedState {
  readonly redis: Redis
  readonly epoch: DataEpoch
  readonly replicas: Replicas
  readonly sessions: RedisSessions
  readonly placement: ReplicaPlacement
  readonly reads: ListReads
}

/** This process as part of a cluster. */
export interface Cluster extends AsyncDisposable {
  readonly replica: Replica
  /** How long this replica serves after it has announced its end. */
  readonly drainMs: number
  /** Absent if only a secret is shared. */
  readonly shared?: SharedState
  status(): ClusterStatus
  /** Sets where this replica listens. */
  listening(url: string): Promise<void>
}

export interface ClusterOptions {
  /** The configuration file. */
  readonly file: string
  /** Folder for the user's data. */
  readonly home: string
  readonly log: Log
  readonly onStatus: (problem: string | undefined) => void
  /** Called when decisions were lost, and when that was confirmed. */
  readonly onLost: (problem: string | undefined) => void
}

/** Joins the cluster of the configuration; `undefined` if there is none. Redis may be unavailable. */
export async function openCluster({ config: { cluster } }: ReadConfig, options: ClusterOptions): Promise<Cluster | undefined> {
  if (cluster?.secret === undefined) return undefined
  const { url, secret, prefix = '', advertise, leaseMs, drainMs } = cluster
  const id = randomUUID()
  const stateKey = clusterKey(secret, 'client state')
  const scriptKey = clusterKey(secret, 'script state')
  const target = url === undefined ? undefined : parseRedisUrl(url)
  if (target === undefined) {
    const replica: Replica = {
      id,
      stateKey,
      scriptKey,
      isShared: false,
      isRunning: (each) => each === id,
      clockOffsetMs: () => 0,
    }
    return {
      replica,
      drainMs,
      status: () => ({ replica: id, replicas: [], roundTrips: 0 }),
      listening: async () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    }
  }
  const shared = await openShared({ target, prefix, id, secret, leaseMs }, options)
  const { redis, epoch, replicas, sessions, placement } = shared
  const replica: Replica = {
    id,
    stateKey,
    scriptKey,
    isShared: true,
    isRunning: (each) => replicas.isRunning(each),
    clockOffsetMs: () => replicas.clockOffsetMs,
  }
  return {
    replica,
    drainMs,
    shared,
    status: () => ({
      replica: id,
      replicas: replicas.all,
      redis: redis.problem ?? 'ok',
      roundTrips: redis.roundTrips,
    }),
    async listening(bound) {
      const address = advertise ?? reachableUrl(bound)
      placement.listening(address)
      await replicas.listening(address)
    },
    async [Symbol.asyncDispose]() {
      epoch.close()
      await sessions[Symbol.asyncDispose]()
      await replicas.close()
      await redis[Symbol.asyncDispose]()
    },
  }
}

interface SharedOptions {
  readonly target: NonNullable<ReturnType<typeof parseRedisUrl>>
  readonly prefix: string
  readonly id: string
  readonly secret: string
  readonly leaseMs: number
}

// The library of Redis and its drivers are loaded here only.
async function openShared({ target, prefix, id, secret, leaseMs }: SharedOptions, options: ClusterOptions): Promise<SharedState> {
  const [{ openRedis }, { DataEpoch }, { Replicas }, { ReplicaPlacement }, { RedisSessions }, { sharedReads }] =
    await Promise.all([
      import('./cluster/redis.ts'),
      import('./cluster/epoch.ts'),
      import('./cluster/replicas.ts'),
      import('./cluster/placement/replica-placement.ts'),
      import('./cluster/sessions/session-store.ts'),
      import('./cluster/lists/shared-reads.ts'),
    ])
  const redis = await openRedis({ target, prefix })
  const report = async (problem: string | undefined): Promise<void> =>
    options.onStatus(
      problem === undefined
        ? await evictionProblem(redis)
        : `Redis does not work (${problem}). New sessions are refused, tools cannot be activated, rate limits apply per replica, results can be read where they were made, and calls that need approval are denied.`,
    )
  redis.onStatus((problem) => void report(problem))
  await report(redis.problem)
  const path = epochFile(options, target, prefix)
  const epoch = new DataEpoch({
    redis,
    known: await readFile(path, 'utf8').catch(() => undefined),
    onEpoch: (current) => void remember(path, current),
    onLost: options.onLost,
  })
  const replicas = new Replicas(redis, id)
  const refresh = (): Promise<unknown> => Promise.allSettled([epoch.check(), replicas.report()])
  redis.onStatus((problem) => problem === undefined && void refresh())
  await refresh()
  const placement = new ReplicaPlacement({
    redis,
    replica: id,
    key: clusterKey(secret, 'forwarded requests'),
    leaseMs,
    log: options.log,
  })
  const sessions = await RedisSessions.open(redis, {
    replica: id,
    isAlive: (each) => replicas.isRunning(each),
    time: () => replicas.time,
  })
  return { redis, epoch, replicas, sessions, placement, reads: sharedReads(redis) }
}

/** Decisions that are evicted one by one would not be missed. */
async function evictionProblem(redis: Redis): Promise<string | undefined> {
  const info = String(await redis.command('INFO', 'memory').catch(() => ''))
  const [, policy] = /^maxmemory_policy:(allkeys-\w+)/mu.exec(info) ?? []
  if (policy === undefined) return undefined
  return `Redis may remove approvals and trust decisions when its memory is full (maxmemory-policy ${policy}). Set maxmemory-policy to noeviction.`
}

/** Where this machine remembers what it saw in a Redis, so that it notices data that was lost while no replica was running. */
function epochFile({ file, home }: ClusterOptions, { nodes, database, master }: SharedOptions['target'], prefix: string): string {
  const id = createHash('sha256')
    .update(JSON.stringify([file, nodes, database, master, prefix]))
    .digest('hex')
    .slice(0, 16)
  return join(home, 'cluster', `${id}.epoch`)
}

async function remember(path: string, epoch: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await replaceFile(path, epoch)
  } catch {
    // Without the file, only data that is lost while a replica runs is noticed.
  }
}
