// npm run bench -- list [--quick] [--json]
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { type HttpPace, type HttpTiming, timeOverHttp } from './http.ts'
import { timeCachedList, timeCall, timeChangedList } from './in-process.ts'
import { weighSessions } from './memory.ts'
import { reportOf } from './report.ts'
import type { Results } from './results.ts'
import type { Pace } from './rounds.ts'
import { targetsOf } from './targets.ts'
import { referenceSize } from './tools.ts'

const { quick, json } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } }).values

interface Plan {
  readonly http: { readonly [size: number]: HttpPace }
  readonly local: Pace
  readonly sessions: number
}

const fullPlan: Plan = {
  http: {
    10: { rounds: 6, sliceMs: 40, warmUpMs: { 'tools/list': 200, 'tools/call': 900 } },
    100: { rounds: 6, sliceMs: 40, warmUpMs: { 'tools/list': 200, 'tools/call': 900 } },
    1000: { rounds: 12, sliceMs: 100, warmUpMs: { 'tools/list': 800, 'tools/call': 2_000 } },
    10000: { rounds: 6, sliceMs: 80, warmUpMs: { 'tools/list': 200, 'tools/call': 600 } },
  },
  local: { rounds: 10, sliceMs: 100, warmUpMs: 400 },
  sessions: 10_000,
}

const quickPlan: Plan = {
  http: {
    10: { rounds: 3, sliceMs: 25, warmUpMs: { 'tools/list': 30, 'tools/call': 60 } },
    1000: { rounds: 4, sliceMs: 40, warmUpMs: { 'tools/list': 150, 'tools/call': 250 } },
  },
  local: { rounds: 4, sliceMs: 50, warmUpMs: 150 },
  sessions: 500,
}

const results = await measured(quick === true ? quickPlan : fullPlan)
if (json === true) {
  console.error(reportOf(results))
  console.log(JSON.stringify({ ...results, targets: targetsOf(results) }, undefined, 2))
} else {
  console.log(reportOf(results))
}

async function measured({ http, local, sessions }: Plan): Promise<Results> {
  const machine = { node: process.version, cores: availableParallelism(), load: loadavg()[0] ?? 0 }
  const timings: HttpTiming[] = []
  for (const [size, pace] of Object.entries(http)) {
    console.error(`Measuring over HTTP with ${size} tools …`)
    timings.push(...(await timeOverHttp(Number(size), pace)))
  }
  console.error('Measuring in process …')
  const cachedList = await timeCachedList(local)
  const changedList = await timeChangedList(local)
  const call = await timeCall(local)
  console.error(`Measuring memory of ${sessions} sessions …`)
  const memory = await weighSessions(referenceSize, sessions)
  return { machine, http: timings, cachedList, changedList, call, memory }
}
