// npm run bench -- client [--quick] [--json]
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import type { Pace } from '../list/rounds.ts'
import { timeCommands } from './commands.ts'
import { timeIdentity } from './identity.ts'
import { installedMcporter } from './mcporter.ts'
import { timeReconnecting } from './reconnecting.ts'
import { reportOf } from './report.ts'
import { type Results, targetsOf } from './targets.ts'

const { quick, json } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } }).values

interface Plan {
  readonly http: Pace
  /** Processes start slowly, so each runs once per round. */
  readonly stdioRounds: number
  readonly commandRounds: number
  readonly identity: Pace
}

const fullPlan: Plan = {
  http: { rounds: 12, sliceMs: 150, warmUpMs: 600 },
  stdioRounds: 9,
  commandRounds: 21,
  identity: { rounds: 12, sliceMs: 100, warmUpMs: 400 },
}

const quickPlan: Plan = {
  http: { rounds: 4, sliceMs: 60, warmUpMs: 200 },
  stdioRounds: 3,
  commandRounds: 7,
  identity: { rounds: 5, sliceMs: 50, warmUpMs: 200 },
}

const results = await measured(quick === true ? quickPlan : fullPlan)
if (json === true) {
  console.error(reportOf(results))
  console.log(JSON.stringify({ ...results, targets: targetsOf(results) }, undefined, 2))
} else {
  console.log(reportOf(results))
}

async function measured({ http, stdioRounds, commandRounds, identity }: Plan): Promise<Results> {
  const machine = { node: process.version, cores: availableParallelism(), load: loadavg()[0] ?? 0 }
  const peer = installedMcporter(process.env.npm_execpath)
  console.error('Measuring identities …')
  const identities = await timeIdentity(identity)
  console.error('Measuring connections …')
  const reconnecting = await timeReconnecting({ http, stdioRounds })
  console.error('Measuring commands …')
  const commands = await timeCommands(commandRounds, peer)
  return { machine, reconnecting, commands, identity: identities, ...(peer !== undefined && { mcporter: peer.version }) }
}
