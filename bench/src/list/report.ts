import { barsOf, fastestSdk, peers } from './bars.ts'
import { type HttpTiming, httpNames } from './http.ts'
import { localNames } from './in-process.ts'
import { memoryNames } from './memory.ts'
import { named, type Results } from './results.ts'
import type { Timing } from './rounds.ts'
import { countText, ratioText, sizeText, tableOf, timeText } from './table.ts'
import { barSize } from './tools.ts'
import type { Method } from './wire.ts'

/** The whole run for people to read. */
export function reportOf(results: Results): string {
  const { machine, http, cachedList, changedList, call, memory } = results
  const sizes = [...new Set(http.map(({ size }) => size))]
  return [
    `Node ${machine.node}, ${machine.cores} cores, load ${machine.load.toFixed(1)}. × SDK: p50 to that of the fastest SDK server. × floor: p50 to the floor's.`,
    ...sizes.flatMap((size) => [httpSection(http, size, 'tools/list'), httpSection(http, size, 'tools/call')]),
    section(`list from cache in process, ${countText(barSize)} tools`, localTable(cachedList, localNames.sdk)),
    section(`list after an activation in process, ${countText(barSize)} tools in 50 groups`, localTable(changedList)),
    section(`call in memory, ${countText(barSize)} tools`, localTable(call, localNames.sdkServer)),
    section(`memory of an idle session, ${countText(barSize)} tools`, memoryTable(memory)),
    section('bars', barsText(results)),
  ].join('\n\n')
}

const section = (title: string, text: string): string => `${title}\n${text}`

function httpSection(http: readonly HttpTiming[], size: number, method: Method): string {
  const rows = http
    .filter((timing) => timing.size === size && timing.method === method)
    .map((timing) => [
      timing.era === 'session' ? 'session' : '2026-07-28',
      timing.name,
      timeText(timing.p50),
      timeText(timing.p99),
      ratioText(timing.p50 / fastestSdk(http, timing).p50),
      ratioText(timing.p50 / named(peers(http, timing), httpNames.floor).p50),
      sizeText(timing.bytes),
      countText(timing.samples),
    ])
  const headings = ['era', 'contender', 'p50', 'p99', '× SDK', '× floor', 'answer', 'samples']
  return section(`${method} over HTTP, ${countText(size)} tools`, tableOf(headings, rows, 2))
}

function localTable(timings: readonly Timing[], reference?: string): string {
  const base = reference === undefined ? undefined : named(timings, reference).p50
  const rows = timings.map(({ name, p50, p99, samples }) => [
    name,
    timeText(p50),
    timeText(p99),
    ratioText(base === undefined ? undefined : p50 / base),
    countText(samples),
  ])
  return tableOf(['contender', 'p50', 'p99', '× SDK', 'samples'], rows)
}

function memoryTable(memory: Results['memory']): string {
  const base = named(memory, memoryNames.sdkServer).bytes
  const rows = memory.map(({ name, bytes, sessions }) => [name, sizeText(bytes), ratioText(bytes / base), countText(sessions)])
  return tableOf(['contender', 'per session', '× SDK', 'sessions'], rows)
}

function barsText(results: Results): string {
  const rows = barsOf(results).map(({ what, limit, measured, isMet }) => [isMet ? 'met' : 'MISSED', what, measured, `≤ ${limit}`])
  return `${tableOf(['', 'bar', 'measured', 'limit'], rows, 2)}\n\n${floorText(results.http)}`
}

/** How close to the least that node:http can do. */
function floorText(http: readonly HttpTiming[]): string {
  const lists = http.filter(({ size, method, name }) => size === barSize && method === 'tools/list' && name === httpNames.plain)
  return lists
    .map((ours) => {
      const floor = named(peers(http, ours), httpNames.floor).p50
      const era = ours.era === 'session' ? 'in a session' : 'on 2026-07-28'
      const sdk = ratioText(fastestSdk(http, ours).p50 / floor)
      return `A list of ${countText(barSize)} tools over HTTP ${era} takes ${ratioText(ours.p50 / floor)} the floor; from the fastest SDK server ${sdk}.`
    })
    .join('\n')
}
