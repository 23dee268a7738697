import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { sampleArguments } from '../gateway/definitions.ts'
import { type RunningUnfold, unfold } from '../gateway/gateways.ts'
import { filled } from '../gateway/life.ts'
import { Stage } from '../gateway/stage.ts'
import { UpstreamSet } from '../gateway/upstreams.ts'
import { type StreamableWire, streamableWire } from '../gateway/wires/streamable.ts'
import { successful } from '../gateway/wires/wire.ts'
import { type Timing, timingOf } from '../list/rounds.ts'
import { cpuSecondsOf, type Usage, usageOf } from './probe.ts'
import { startRedis } from './redis.ts'

export interface LoadPlan {
  readonly sessions: number
  /** Sessions with an open stream. With replicas, it is on another one than the requests. */
  readonly streams: number
  readonly callsPerSecond: number
  readonly seconds: number
}

/** What clients and processes saw during a phase of the load. */
export interface Phase {
  readonly callsPerSecond: number
  readonly calls: Timing
  /** From the change of a server to the notification, for every stream. */
  readonly lag: Timing
  readonly failures: number
  /** Notifications that did not arrive before the next change, of all that were due. */
  readonly missing: number
  readonly due: number
  /** CPU time of all replicas together, per second. */
  readonly cpu: number
  readonly redisCpu: number
}

export interface LoadResults {
  readonly replicas: number
  readonly load: number
  /** Resident memory of all replicas: before the sessions, with them, and after the first phase. */
  readonly bytes: { readonly idle: number; readonly sessions: number; readonly loaded: number }
  /** The planned load, then twice as much as before until a limit is exceeded. */
  readonly phases: readonly Phase[]
  readonly roundTripsPerCall: number
}

const environment = { UNFOLD_CLUSTER_SECRET: 'a secret of more than thirty-two characters' }
const openAtOnce = 20
const callers = 200
const tickMs = 5
const maxP99Ms = 1_000
const maxPhases = 5

/** Runs the same load on one process in memory, or on replicas with Redis. */
export async function measureLoad(count: number, plan: LoadPlan): Promise<LoadResults> {
  const load = loadavg()[0] ?? 0
  await using redis = count > 1 ? await startRedis('everysec') : undefined
  await using stage = new Stage()
  const limits = { sessions: 2 * plan.sessions }
  const options = { limits, ...(redis !== undefined && { environment: { ...environment, UNFOLD_CLUSTER_URL: redis.url } }) }
  const replicas: RunningUnfold[] = []
  for (let index = 0; index < count; index++)
    replicas.push(await stage.add(UpstreamSet.of(4, 250), (set) => unfold.start(set, options)))
  await Promise.all(replicas.map(filled))
  const usages = (): Promise<readonly Usage[]> => Promise.all(replicas.map(usageOf))
  const bytes = async (): Promise<number> => (await usages()).reduce((sum, usage) => sum + usage.bytes, 0)
  const idle = await bytes()
  const sessions = await opened(replicas, plan)
  try {
    const withSessions = await bytes()
    const before = await usages()
    const phases: Phase[] = []
    let loaded = 0
    let roundTripsPerCall = 0
    for (let rate = plan.callsPerSecond; phases.length < maxPhases; rate *= 2) {
      const phase = await run(replicas, sessions, { ...plan, callsPerSecond: rate, redisPid: redis?.pid })
      phases.push(phase)
      if (phases.length === 1) {
        const after = await usages()
        loaded = await bytes()
        const operations = after.reduce((sum, usage, index) => sum + usage.operations - (before[index]?.operations ?? 0), 0)
        roundTripsPerCall = operations / phase.calls.samples
      }
      if (isOverloaded(phase)) break
    }
    return { replicas: count, load, bytes: { idle, sessions: withSessions, loaded }, phases, roundTripsPerCall }
  } finally {
    for (const { wire } of sessions) await wire[Symbol.asyncDispose]()
  }
}

export const isOverloaded = ({ calls, failures }: Phase): boolean => failures > 0 || calls.p99 > maxP99Ms * 1_000

interface Session {
  readonly wire: StreamableWire
  readonly replica: RunningUnfold
  readonly hasStream: boolean
  isBusy: boolean
}

async function opened(replicas: readonly RunningUnfold[], { sessions, streams }: LoadPlan): Promise<readonly Session[]> {
  const all: Session[] = []
  const open = async (index: number): Promise<void> => {
    const replica = replicas[index % replicas.length] as RunningUnfold
    const hasStream = index < streams
    const elsewhere = (replicas[(index + 1) % replicas.length] as RunningUnfold).url
    const wire = await streamableWire(replica.url, { receivesNotifications: hasStream, elsewhere })
    // It connects again with its next request.
    if (!hasStream) await wire[Symbol.asyncDispose]()
    all.push({ wire, replica, hasStream, isBusy: false })
  }
  for (let index = 0; index < sessions; index += openAtOnce)
    await Promise.all(Array.from({ length: Math.min(openAtOnce, sessions - index) }, (_, offset) => open(index + offset)))
  return all
}

interface PhasePlan extends LoadPlan {
  readonly redisPid: number | undefined
}

let changes = 0

async function run(
  replicas: readonly RunningUnfold[],
  sessions: readonly Session[],
  { callsPerSecond, seconds, redisPid }: PhasePlan,
): Promise<Phase> {
  const [times, lags]: [number[], number[]] = [[], []]
  let [failures, due, missing] = [0, 0, 0]
  const listening = sessions.filter(({ hasStream }) => hasStream)
  let waiting = new Set<Session>()
  let changedAt = 0
  for (const session of listening)
    session.wire.noticed = () => {
      if (waiting.delete(session)) lags.push((performance.now() - changedAt) * 1_000)
    }
  const change = (): void => {
    missing += waiting.size
    due += listening.length
    waiting = new Set(listening)
    changedAt = performance.now()
    for (const { upstreams } of replicas) upstreams.add(upstreams.names[0] ?? '', [`extra_${changes}`])
    changes++
  }
  const call = async (session: Session): Promise<void> => {
    session.isBusy = true
    const begin = performance.now()
    const { upstreams, toolName } = session.replica
    const params = {
      name: toolName(upstreams.names[changes % upstreams.names.length] ?? '', 'action_7'),
      arguments: sampleArguments,
    }
    try {
      successful(await session.wire.ask('tools/call', params))
      times.push((performance.now() - begin) * 1_000)
    } catch {
      failures++
    }
    session.isBusy = false
  }
  const cpu = (): number => replicas.reduce((sum, { pid = 0 }) => sum + cpuSecondsOf(pid), 0)
  const redisCpu = (): number => (redisPid === undefined ? 0 : cpuSecondsOf(redisPid))
  const [cpuBefore, redisBefore, begin] = [cpu(), redisCpu(), performance.now()]
  const pool = sessions.slice(-callers)
  const running: Promise<void>[] = []
  let nextChange = 0
  for (let started = 0; performance.now() - begin < seconds * 1_000; await pause(tickMs)) {
    const elapsed = (performance.now() - begin) / 1_000
    if (elapsed >= nextChange) {
      change()
      nextChange++
    }
    for (; started < elapsed * callsPerSecond; started++) {
      const session = pool.find((each, index) => !each.isBusy && (index + started) % 7 === 0) ?? pool.find((each) => !each.isBusy)
      // All are waiting for a reply: the load is more than is served.
      if (session === undefined) break
      running.push(call(session))
    }
  }
  await Promise.all(running)
  const elapsed = (performance.now() - begin) / 1_000
  return {
    callsPerSecond: Math.round(times.length / elapsed),
    calls: timingOf('call', times),
    lag: timingOf('notification', lags),
    failures,
    missing,
    due,
    cpu: (cpu() - cpuBefore) / elapsed,
    redisCpu: (redisCpu() - redisBefore) / elapsed,
  }
}
