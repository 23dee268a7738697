import type { Measured } from './measured.ts'

/** What users do, at the busiest time. */
export interface Workload {
  readonly users: number
  /** Share of the users that are connected at the same time. */
  readonly online: number
  /** Open sessions of a connected user: one per host. */
  readonly sessions: number
  /** How long a session lasts. */
  readonly sessionMinutes: number
  /** Calls per minute of a connected user. */
  readonly calls: number
  /** Lists per session: the first, and one after each change. */
  readonly lists: number
}

export const defaultWorkload: Omit<Workload, 'users'> = {
  online: 0.2,
  sessions: 2,
  sessionMinutes: 60,
  calls: 2,
  lists: 10,
}

const gib = 1_073_741_824

/** Limits of one cell. Utilisation leaves room for peaks. */
export const limits = {
  /** JavaScript runs on one core, and so do the commands of Redis. */
  cpuUsed: 0.5,
  replicaBytes: 4 * gib,
  replicaBytesUsed: 0.75,
  redisBytes: 32 * gib,
  /** Redis needs up to as much again while it rewrites its append-only file. */
  redisBytesUsed: 0.5,
  /** Every replica reads the reports of all others, and gets every change. */
  replicas: 50,
} as const

/** What makes a cell too large. */
export type Limit = 'replicas' | 'replica memory' | 'Redis CPU' | 'Redis memory'

/** One Redis with its replicas, which share no state with other cells. */
export interface Cell {
  readonly users: number
  readonly sessions: number
  readonly callsPerSecond: number
  readonly listsPerSecond: number
  /** With one spare. */
  readonly replicas: number
  /** Cores that all replicas use together. */
  readonly replicaCpu: number
  /** Memory to provide for each replica. With round robin, each has a copy of every session. */
  readonly replicaBytes: number
  /** Memory to provide. */
  readonly redisBytes: number
  readonly redisOperationsPerSecond: number
  readonly redisCpu: number
}

export interface Plan {
  /** Number of equal cells. */
  readonly cells: number
  readonly cell: Cell
  /** The limit that one cell fewer would exceed; `undefined` for a single cell. */
  readonly limitedBy: Limit | undefined
}

/** Computes the replicas and Redis servers for a number of users, from measured costs. */
export function planFor(workload: Workload, measured: Measured): Plan {
  const part = (cells: number): Cell => cellFor({ ...workload, users: Math.ceil(workload.users / cells) }, measured)
  const smallest = exceeded(part(workload.users))
  if (smallest !== undefined) throw new Error(`One user alone exceeds the limit of a cell: ${smallest}.`)
  let tooFew = 0
  let cells = workload.users
  while (cells - tooFew > 1) {
    const middle = Math.floor((tooFew + cells) / 2)
    if (exceeded(part(middle)) === undefined) cells = middle
    else tooFew = middle
  }
  return { cells, cell: part(cells), limitedBy: tooFew === 0 ? undefined : exceeded(part(tooFew)) }
}

function cellFor({ users, online, sessions: each, sessionMinutes, calls, lists }: Workload, measured: Measured): Cell {
  const { replica, redis } = measured
  const sessions = Math.ceil(users * online * each)
  const startsPerSecond = sessions / (sessionMinutes * 60)
  const callsPerSecond = (users * online * calls) / 60
  const listsPerSecond = startsPerSecond * lists
  const requestsPerSession = lists + (calls * sessionMinutes) / each
  // A replica loads a session when it gets the first request of it.
  const copies = (replicas: number): number => Math.max(0, Math.min(replicas, requestsPerSession) - 1)
  const cpu = (replicas: number): number =>
    startsPerSecond * (replica.cpuSecondsPerSession + copies(replicas) * replica.cpuSecondsPerCopy) +
    callsPerSecond * replica.cpuSecondsPerCall +
    listsPerSecond * replica.cpuSecondsPerList
  let replicas = 2
  while (replicas <= limits.replicas && cpu(replicas) > (replicas - 1) * limits.cpuUsed) replicas++
  const redisOperationsPerSecond =
    startsPerSecond * (redis.operationsPerSession + copies(replicas) * redis.operationsPerCopy) +
    callsPerSecond * redis.operationsPerCall +
    listsPerSecond * redis.operationsPerList
  return {
    users,
    sessions,
    callsPerSecond,
    listsPerSecond,
    replicas,
    replicaCpu: cpu(replicas),
    replicaBytes: (replica.bytes + sessions * replica.bytesPerSession) / limits.replicaBytesUsed,
    redisBytes: (redis.bytes + sessions * redis.bytesPerSession) / limits.redisBytesUsed,
    redisOperationsPerSecond,
    redisCpu: redisOperationsPerSecond * redis.cpuSecondsPerOperation,
  }
}

/** The limit that a cell exceeds most. */
function exceeded(cell: Cell): Limit | undefined {
  const factors: readonly (readonly [Limit, number])[] = [
    ['replicas', cell.replicas / limits.replicas],
    ['replica memory', cell.replicaBytes / limits.replicaBytes],
    ['Redis CPU', cell.redisCpu / limits.cpuUsed],
    ['Redis memory', cell.redisBytes / limits.redisBytes],
  ]
  return factors.filter(([, factor]) => factor > 1).toSorted(([, a], [, b]) => b - a)[0]?.[0]
}
