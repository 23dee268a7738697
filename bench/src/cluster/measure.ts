import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { sampleArguments } from '../gateway/definitions.ts'
import { type RunningUnfold, unfold } from '../gateway/gateways.ts'
import { filled } from '../gateway/life.ts'
import { Stage } from '../gateway/stage.ts'
import { UpstreamSet } from '../gateway/upstreams.ts'
import { type StreamableWire, streamableWire } from '../gateway/wires/streamable.ts'
import { successful } from '../gateway/wires/wire.ts'
import { inRounds, type Pace, type Timing, timingOf } from '../list/rounds.ts'
import type { Measured } from './measured.ts'
import { cpuSecondsOf, perUnit, usageOf } from './probe.ts'
import { type Fsync, type MeasuredRedis, startRedis } from './redis.ts'

export interface ClusterPlan {
  readonly pace: Pace
  readonly sessions: number
  readonly requests: number
  readonly changes: number
  readonly fsync: Fsync
}

export interface ClusterResults {
  readonly fsync: Fsync
  readonly machine: { readonly node: string; readonly cores: number; readonly load: number }
  /** Lists and calls of one client, in memory and with Redis. */
  readonly timings: readonly Timing[]
  /** From an activation on one replica to the notification on another, in microseconds. */
  readonly notification: Timing
  readonly measured: Measured
}

const settleMs = 1_000

/** Measures one process in memory, and replicas on Redis, in the same run. */
export async function measureCluster({ pace, sessions, requests, changes, fsync }: ClusterPlan): Promise<ClusterResults> {
  const machine = { node: process.version, cores: availableParallelism(), load: loadavg()[0] ?? 0 }
  await using redis = await startRedis(fsync)
  await using stage = new Stage()
  const environment = { UNFOLD_CLUSTER_URL: redis.url, UNFOLD_CLUSTER_SECRET: 'a secret of more than thirty-two characters' }
  const start = (options: Parameters<typeof unfold.start>[1]) =>
    stage.add(UpstreamSet.of(1, 20), (set) => unfold.start(set, options))
  const limits = { sessions: 4 * sessions }
  const alone = await start({ limits })
  const replicas = [await start({ environment, limits }), await start({ environment, limits })] as const
  await Promise.all([alone, ...replicas].map(filled))
  console.error('Measuring lists and calls …')
  const timings = await timeRequests(alone, replicas[0], pace)
  console.error('Measuring notifications across replicas …')
  const notification = await timeNotifications(replicas, changes)
  console.error(`Measuring ${sessions} sessions …`)
  return { fsync, machine, timings, notification, measured: await measureCosts(replicas, redis, { sessions, requests }) }
}

async function timeRequests(alone: RunningUnfold, shared: RunningUnfold, pace: Pace): Promise<readonly Timing[]> {
  const wires = [await streamableWire(alone.url), await streamableWire(shared.url)]
  try {
    const contestants = [alone, shared].flatMap((running, index) => {
      const where = index === 0 ? 'memory' : 'Redis'
      const wire = wires[index] as StreamableWire
      return [
        { name: `list, ${where}`, run: async () => successful(await wire.ask('tools/list')) },
        { name: `call, ${where}`, run: async () => successful(await wire.ask('tools/call', callOf(running))) },
      ]
    })
    return await inRounds(contestants, pace)
  } finally {
    for (const wire of wires) await wire[Symbol.asyncDispose]()
  }
}

const callOf = ({ upstreams, toolName }: RunningUnfold): object => ({
  name: toolName(upstreams.names[0] ?? '', 'action_7'),
  arguments: sampleArguments,
})

async function timeNotifications([asked, listening]: readonly [RunningUnfold, RunningUnfold], changes: number): Promise<Timing> {
  const view = '?exposure=groups'
  const wire = await streamableWire(`${asked.url}${view}`, { receivesNotifications: true, elsewhere: `${listening.url}${view}` })
  const group = asked.upstreams.names[0] ?? ''
  const times: number[] = []
  try {
    await wire.ask('tools/list')
    for (let count = 0; count < changes; count++) {
      const noticed = new Promise<void>((resolve) => {
        wire.noticed = resolve
      })
      const begin = process.hrtime.bigint()
      const isOn = count % 2 === 0
      const asking = wire.ask('tools/call', isOn ? { name: `activate_${group}` } : { name: 'deactivate', arguments: { group } })
      await noticed
      times.push(Number(process.hrtime.bigint() - begin) / 1_000)
      await asking
      await wire.ask('tools/list')
    }
    return timingOf('notification on another replica', times)
  } finally {
    await wire[Symbol.asyncDispose]()
  }
}

async function measureCosts(
  [first, second]: readonly [RunningUnfold, RunningUnfold],
  redis: MeasuredRedis,
  { sessions, requests }: { readonly sessions: number; readonly requests: number },
): Promise<Measured> {
  const idle = await usageOf(first)
  const redisIdle = {
    bytes: redis.info('used_memory'),
    cpu: cpuSecondsOf(redis.pid),
    commands: redis.info('total_commands_processed'),
  }
  const wires: StreamableWire[] = []
  try {
    for (let count = 0; count < sessions; count++) wires.push(await streamableWire(first.url))
    await pause(settleMs)
    const opened = await usageOf(first)
    const redisOpened = redis.info('used_memory')
    const rotating = async (ask: (wire: StreamableWire) => Promise<Buffer>): Promise<void> => {
      for (let count = 0; count < requests; count++) successful(await ask(wires[count % wires.length] as StreamableWire))
      await pause(settleMs)
    }
    await rotating((wire) => wire.ask('tools/list'))
    const listed = await usageOf(first)
    await rotating((wire) => wire.ask('tools/call', callOf(first)))
    const called = await usageOf(first)
    const before = await usageOf(second)
    for (const wire of wires.slice(0, sessions)) successful(await wire.askAt(second.url, 'tools/list'))
    await pause(settleMs)
    const copied = await usageOf(second)
    const session = perUnit(idle, opened, sessions)
    const list = perUnit(opened, listed, requests)
    const call = perUnit(listed, called, requests)
    const copy = perUnit(before, copied, sessions)
    const commands = redis.info('total_commands_processed') - redisIdle.commands
    return {
      replica: {
        bytes: idle.bytes,
        bytesPerSession: Math.max(session.bytes, copy.bytes),
        cpuSecondsPerSession: session.cpuSeconds,
        cpuSecondsPerCopy: copy.cpuSeconds,
        cpuSecondsPerCall: call.cpuSeconds,
        cpuSecondsPerList: list.cpuSeconds,
      },
      redis: {
        bytes: redisIdle.bytes,
        bytesPerSession: (redisOpened - redisIdle.bytes) / sessions,
        operationsPerSession: session.operations,
        operationsPerCopy: copy.operations,
        operationsPerCall: call.operations,
        operationsPerList: list.operations,
        cpuSecondsPerOperation: (cpuSecondsOf(redis.pid) - redisIdle.cpu) / Math.max(1, commands),
      },
    }
  } finally {
    for (const wire of wires) await wire[Symbol.asyncDispose]()
  }
}
