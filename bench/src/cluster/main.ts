// npm run bench -- cluster [--quick] [--json] [--fsync always]: costs of sessions, lists and calls
//   --load: many sessions, changes and calls on one process and on three replicas
//   --takeover: how long a server with "placement": "one" is away after its replica was killed
//   --plan users=1000[,calls=5]: replicas and Redis, with the numbers of the last run
import { parseArgs } from 'node:util'
import { type LoadPlan, measureLoad } from './load.ts'
import { loadText } from './load-report.ts'
import { type ClusterPlan, measureCluster } from './measure.ts'
import { readMeasured, writeMeasured } from './measured.ts'
import { planFor } from './plan.ts'
import { planText } from './plan-report.ts'
import { reportOf, targetsOf } from './report.ts'
import { leaseMs, timeTakeovers } from './takeover.ts'
import { parseWorkload } from './workload.ts'

const options = {
  plan: { type: 'string' },
  quick: { type: 'boolean' },
  json: { type: 'boolean' },
  load: { type: 'boolean' },
  takeover: { type: 'boolean' },
  fsync: { type: 'string', default: 'everysec' },
} as const
const { plan, quick, json, fsync, load, takeover } = parseArgs({ options }).values

const fullPlan: Omit<ClusterPlan, 'fsync'> = {
  pace: { rounds: 20, sliceMs: 200, warmUpMs: 3_000 },
  sessions: 1_000,
  requests: 4_000,
  changes: 200,
}
const quickPlan: typeof fullPlan = { pace: { rounds: 5, sliceMs: 100, warmUpMs: 500 }, sessions: 100, requests: 400, changes: 20 }

try {
  if (load === true) await putUnderLoad()
  else if (takeover === true) await takeOver()
  else if (plan === undefined) await measure()
  else {
    const workload = parseWorkload(plan)
    console.log(planText(workload, planFor(workload, readMeasured())))
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function putUnderLoad(): Promise<void> {
  const usual: LoadPlan = { sessions: 10_000, streams: 1_000, callsPerSecond: 200, seconds: 15 }
  const loadPlan: LoadPlan = quick === true ? { ...usual, sessions: 1_000, streams: 100, seconds: 5 } : usual
  const results = []
  for (const replicas of [1, 3]) {
    console.error(`Measuring ${replicas} under load …`)
    results.push(await measureLoad(replicas, loadPlan))
  }
  console.log(loadText(loadPlan, results))
}

async function takeOver(): Promise<void> {
  const limit = leaseMs + 2_000
  const times = (await timeTakeovers(quick === true ? 1 : 5)).toSorted((a, b) => a - b)
  const last = times.at(-1) ?? Number.NaN
  const shown = times.map((time) => `${Math.round(time)} ms`).join(', ')
  console.log(`${last <= limit ? 'met   ' : 'missed'} takeover, lease ${leaseMs} ms: ${shown} (target ≤ ${limit} ms)`)
}

async function measure(): Promise<void> {
  if (fsync !== 'always' && fsync !== 'everysec') throw new Error(`Invalid --fsync: "${fsync}". Use always or everysec.`)
  const results = await measureCluster({ ...(quick === true ? quickPlan : fullPlan), fsync })
  // The plan is for the default.
  if (fsync === 'everysec') writeMeasured(results.measured)
  console[json === true ? 'error' : 'log'](reportOf(results))
  if (json === true) console.log(JSON.stringify({ ...results, targets: targetsOf(results) }, undefined, 2))
}
