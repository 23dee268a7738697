// npm run bench -- gateway [--quick] [--json]
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import type { Pace } from '../list/rounds.ts'
import { type CallPace, type CallTiming, timeCalls } from './calls.ts'
import { type Burst, countBursts, timeChanges, timeSearches } from './changes.ts'
import { type FairnessPace, timeFairness } from './fairness.ts'
import { type Contender, direct, installedGateways, type Running, unfold } from './gateways.ts'
import { filled, timeRecoveries, timeStarts, upstreamsFor } from './life.ts'
import { timeLists } from './lists.ts'
import { weighGateways } from './memory.ts'
import { reportOf } from './report.ts'
import { Stage } from './stage.ts'
import { type Results, targetsOf } from './targets.ts'
import { UpstreamSet } from './upstreams.ts'

const { quick, json } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } }).values

interface Plan {
  readonly list: Pace
  readonly call: CallPace
  readonly fairness: FairnessPace
  readonly changes: number
  readonly bursts: number
  readonly starts: number
  readonly kills: number
}

const fullPlan: Plan = {
  list: { rounds: 10, sliceMs: 200, warmUpMs: 1_500 },
  call: { rounds: 10, sliceMs: 250, warmUp: 5_000 },
  fairness: { rounds: 5, sliceMs: 2_000, warmUp: 2_000 },
  changes: 40,
  bursts: 5,
  starts: 5,
  kills: 7,
}

const quickPlan: Plan = {
  list: { rounds: 4, sliceMs: 60, warmUpMs: 300 },
  call: { rounds: 4, sliceMs: 100, warmUp: 2_000 },
  fairness: { rounds: 2, sliceMs: 500, warmUp: 1_000 },
  changes: 8,
  bursts: 2,
  starts: 1,
  kills: 2,
}

const results = await measured(quick === true ? quickPlan : fullPlan)
if (json === true) {
  console.error(reportOf(results))
  console.log(JSON.stringify({ ...results, targets: targetsOf(results) }, undefined, 2))
} else {
  console.log(reportOf(results))
}

async function measured(plan: Plan): Promise<Results> {
  const machine = { node: process.version, cores: availableParallelism(), load: loadavg()[0] ?? 0 }
  const { hub, proxy } = installedGateways(process.env.npm_execpath)
  const peers = [hub, proxy].filter((each) => each !== undefined)
  const versions = Object.fromEntries(peers.map(({ name, version = '' }) => [name, version]))
  const small = await behindOne(peers, plan)
  console.error('Measuring starts with 20 servers …')
  const starts = await timeStarts([...peers, unfold], plan.starts)
  const large = await behindMany(peers, plan)
  return { machine, versions, ...small, lists: [...small.lists, ...large.lists], starts, ...large.rest }
}

/** Measures gateways with one server of 20 tools each. */
async function behindOne(peers: readonly Contender[], plan: Plan) {
  await using stage = new Stage()
  const ours = await stage.add(UpstreamSet.of(1, 20), unfold.start)
  const others: Running[] = []
  for (const peer of peers) others.push(await stage.add(UpstreamSet.of(1, 20), peer.start))
  const gateways = [...others, ours]
  await Promise.all(gateways.map(filled))
  const all = [await stage.add(UpstreamSet.of(1, 20), direct.start), ...gateways]
  console.error('Measuring lists of 20 tools …')
  const lists = await timeLists(all, ours, plan.list)
  const calls: CallTiming[] = []
  for (const callers of [1, 8, 32]) {
    console.error(`Measuring calls, ${callers} concurrent …`)
    calls.push(...(await timeCalls(all, ours, { callers, pace: plan.call })))
  }
  console.error('Measuring fairness …')
  const fairness = await timeFairness(ours, plan.fairness)
  console.error('Measuring tool changes …')
  const changes = await timeChanges(all, plan.changes)
  const search = await timeSearches(ours, plan.changes)
  const bursts: Burst[] = []
  for (const gapMs of [0, 5]) bursts.push(...(await countBursts(gateways, gapMs, plan.bursts)))
  return { lists, calls, fairness, changes, search, bursts }
}

/** Measures gateways with 1,000 tools each. */
async function behindMany(peers: readonly Contender[], plan: Plan) {
  await using stage = new Stage()
  const ours = await stage.add(upstreamsFor(unfold), unfold.start)
  const others: Running[] = []
  for (const peer of peers) others.push(await stage.add(upstreamsFor(peer), peer.start))
  const gateways = [...others, ours]
  await Promise.all(gateways.map(filled))
  const all = [await stage.add(upstreamsFor(direct), direct.start), ...gateways]
  console.error('Measuring lists of 1,000 tools …')
  const lists = await timeLists(all, ours, plan.list)
  console.error('Measuring memory with 100 clients …')
  const memory = await weighGateways(gateways)
  console.error('Measuring recovery after SIGKILL …')
  const recoveries = await timeRecoveries(gateways, plan.kills)
  return { lists, rest: { memory, recoveries } }
}
