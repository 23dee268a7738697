import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Timing, timingOf } from '../list/rounds.ts'
import { sampleArguments } from './definitions.ts'
import { type Contender, names, type Running, unfold } from './gateways.ts'
import { upstreamToolsIn } from './lists.ts'
import { UpstreamSet } from './upstreams.ts'
import { stdioWire } from './wires/stdio.ts'
import { successful, type Wire } from './wires/wire.ts'

/** Twenty servers with 1,000 tools in total. */
const manyUpstreams = { count: 20, each: 50 } as const

/** One server with 1,000 tools, for gateways that support one server only. */
export const upstreamsFor = ({ isSingle }: Pick<Contender, 'isSingle'>): Promise<UpstreamSet> => {
  const { count, each } = manyUpstreams
  return isSingle ? UpstreamSet.of(1, count * each) : UpstreamSet.of(count, each)
}

/** Time from process start until a client gets the first tools, and until it has the tools of all servers. */
export interface Start {
  readonly name: string
  readonly served: Timing
  readonly all: Timing
}

export const startNames = { ...names, alone: 'the servers alone', again: `${names.unfold}, started again` } as const

interface Moments {
  readonly servedUs: number
  readonly allUs: number
}

/** Starts each gateway repeatedly, in turn; ours also with the cached tools of the last run. */
export async function timeStarts(contenders: readonly Contender[], rounds: number): Promise<readonly Start[]> {
  const home = await mkdtemp(join(tmpdir(), 'unfold-bench-home-'))
  const known = await upstreamsFor(unfold)
  const runners: { readonly name: string; readonly run: () => Promise<Moments>; readonly moments: Moments[] }[] = [
    { name: startNames.alone, run: startAlone, moments: [] },
    ...contenders.map((contender) => ({ name: contender.name, run: () => startFresh(contender), moments: [] })),
    { name: startNames.again, run: () => started(unfold, known, home), moments: [] },
  ]
  try {
    await started(unfold, known, home)
    for (let round = 0; round < rounds; round++) for (const { run, moments } of runners) moments.push(await run())
  } finally {
    await known[Symbol.asyncDispose]()
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  return runners.map(({ name, moments }) => ({
    name,
    served: timingOf(
      name,
      moments.map(({ servedUs }) => servedUs),
    ),
    all: timingOf(
      name,
      moments.map(({ allUs }) => allUs),
    ),
  }))
}

/** Starts all servers at once without a gateway, as a reference. */
async function startAlone(): Promise<Moments> {
  await using upstreams = await upstreamsFor(unfold)
  const begin = performance.now()
  const listed: number[] = []
  await Promise.all(
    upstreams.names.map(async (name) => {
      await using wire = await stdioWire(upstreams.command(name))
      await wire.ask('tools/list')
      listed.push((performance.now() - begin) * 1_000)
    }),
  )
  return { servedUs: Math.min(...listed), allUs: Math.max(...listed) }
}

async function startFresh(contender: Contender): Promise<Moments> {
  await using upstreams = await upstreamsFor(contender)
  return await started(contender, upstreams)
}

async function started(contender: Contender, upstreams: UpstreamSet, home?: string): Promise<Moments> {
  const begin = performance.now()
  await using running = await contender.start(upstreams, home === undefined ? {} : { home })
  const servedUs = await listing(running, 1, begin)
  return { servedUs, allUs: await listing(running, upstreams.tools, begin) }
}

/** Waits until a client has all tools. */
export const filled = (running: Running): Promise<number> => listing(running, running.upstreams.tools)

const timeoutMs = 60_000

async function listing({ name, client }: Running, count: number, begin = performance.now()): Promise<number> {
  await using wire = await client()
  const end = performance.now() + timeoutMs
  while (upstreamToolsIn(await wire.ask('tools/list')) < count) {
    if (performance.now() > end) throw new Error(`${name} did not list ${count} tools in time.`)
    await pause(2)
  }
  return (performance.now() - begin) * 1_000
}

/** Time until a call succeeds after its upstream was killed; `undefined` if it did not in time. */
export interface Recovery {
  readonly name: string
  readonly times: Timing | undefined
}

export const recoveryTimeoutMs = 8_000
const callPatienceMs = 3_000

/** Kills upstreams one after another; stops after the first for a gateway that does not recover. */
export async function timeRecoveries(all: readonly Running[], kills: number): Promise<readonly Recovery[]> {
  const recoveries: Recovery[] = []
  for (const running of all) {
    await using wire = await running.client()
    const times: number[] = []
    for (const upstream of running.upstreams.names.slice(0, kills)) {
      const time = await timeRecovery(running, upstream, wire)
      if (time === undefined) break
      times.push(time)
    }
    recoveries.push({ name: running.name, times: times.length === 0 ? undefined : timingOf(running.name, times) })
  }
  return recoveries
}

async function timeRecovery({ upstreams, toolName }: Running, upstream: string, wire: Wire): Promise<number | undefined> {
  const params = { name: toolName(upstream, 'action_7'), arguments: sampleArguments }
  const pid = upstreams.pid(upstream)
  if (pid === undefined) throw new Error(`${upstream} is not running.`)
  successful(await wire.ask('tools/call', params))
  const begin = performance.now()
  process.kill(pid, 'SIGKILL')
  while (performance.now() < begin + recoveryTimeoutMs) {
    if (upstreams.pid(upstream) !== pid || performance.now() > begin + 5) {
      if (await isAnswered(wire, params)) return (performance.now() - begin) * 1_000
    }
    await pause(5)
  }
  return undefined
}

async function isAnswered(wire: Wire, params: object): Promise<boolean> {
  const called = wire.ask('tools/call', params).then(
    (answer) => successful(answer) !== undefined,
    () => false,
  )
  const stop = new AbortController()
  const late = pause(callPatienceMs, false, { signal: stop.signal }).catch(() => false)
  const isDone = await Promise.race([called.catch(() => false), late])
  stop.abort()
  return isDone
}
