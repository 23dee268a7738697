import { tableOf } from '../list/table.ts'
import { isOverloaded, type LoadPlan, type LoadResults, type Phase } from './load.ts'

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`
const ms = (microseconds: number): string => `${(microseconds / 1_000).toFixed(1)} ms`

/** What clients and processes saw at the same load, for each number of replicas. */
export function loadText({ sessions, streams }: LoadPlan, all: readonly LoadResults[]): string {
  return [
    `${sessions} sessions, ${streams} with open streams, 1,000 tools, one change per second.`,
    ...all.map((each) => `\n${textOf(each)}`),
  ].join('\n')
}

function textOf({ replicas, load, bytes, phases, roundTripsPerCall }: LoadResults): string {
  const [first] = phases
  const last = phases.at(-1)
  const where = replicas === 1 ? 'One process, in memory' : `${replicas} replicas with Redis`
  const rows = phases.map((phase) => [
    `${phase.callsPerSecond}/s`,
    ms(phase.calls.p50),
    ms(phase.calls.p99),
    ms(phase.lag.p50),
    ms(phase.lag.p95),
    `${phase.missing} of ${phase.due}`,
    `${phase.failures}`,
    `${phase.cpu.toFixed(2)} + ${phase.redisCpu.toFixed(2)}`,
  ])
  return [
    `${where} (load ${load.toFixed(1)} at the start): ${mebibytes(bytes.idle)} without sessions, ${mebibytes(bytes.sessions)} with, ${mebibytes(bytes.loaded)} under load.`,
    tableOf(['calls', 'p50', 'p99', 'lag p50', 'lag p95', 'late', 'failed', 'CPU + Redis'], rows, 1),
    first === undefined || replicas === 1
      ? ''
      : `${roundTripsPerCall.toFixed(2)} round trips to Redis per call, with everything else.\n`,
    last === undefined ? '' : breaking(last),
  ].join('\n')
}

function breaking(last: Phase): string {
  if (!isOverloaded(last)) return 'Nothing broke up to this load.'
  const reason = last.failures > 0 ? `${last.failures} calls failed` : 'the p99 of calls is more than a second'
  return `What breaks first: at ${last.callsPerSecond} calls per second, ${reason}; the replicas use ${last.cpu.toFixed(2)} cores.`
}
