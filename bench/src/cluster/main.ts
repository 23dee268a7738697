// npm run bench -- cluster [--quick] [--json] [--fsync always], or --plan users=1000[,calls=5] with the numbers of the last run
import { parseArgs } from 'node:util'
import { type ClusterPlan, measureCluster } from './measure.ts'
import { readMeasured, writeMeasured } from './measured.ts'
import { planFor } from './plan.ts'
import { planText } from './plan-report.ts'
import { reportOf, targetsOf } from './report.ts'
import { parseWorkload } from './workload.ts'

const options = {
  plan: { type: 'string' },
  quick: { type: 'boolean' },
  json: { type: 'boolean' },
  fsync: { type: 'string', default: 'everysec' },
} as const
const { plan, quick, json, fsync } = parseArgs({ options }).values

const fullPlan: Omit<ClusterPlan, 'fsync'> = {
  pace: { rounds: 20, sliceMs: 200, warmUpMs: 3_000 },
  sessions: 1_000,
  requests: 4_000,
  changes: 200,
}
const quickPlan: typeof fullPlan = { pace: { rounds: 5, sliceMs: 100, warmUpMs: 500 }, sessions: 100, requests: 400, changes: 20 }

try {
  if (plan === undefined) await measure()
  else {
    const workload = parseWorkload(plan)
    console.log(planText(workload, planFor(workload, readMeasured())))
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function measure(): Promise<void> {
  if (fsync !== 'always' && fsync !== 'everysec') throw new Error(`Invalid --fsync: "${fsync}". Use always or everysec.`)
  const results = await measureCluster({ ...(quick === true ? quickPlan : fullPlan), fsync })
  // The plan is for the default.
  if (fsync === 'everysec') writeMeasured(results.measured)
  console[json === true ? 'error' : 'log'](reportOf(results))
  if (json === true) console.log(JSON.stringify({ ...results, targets: targetsOf(results) }, undefined, 2))
}
