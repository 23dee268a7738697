import { type HttpTiming, httpNames } from './http.ts'
import { localNames } from './in-process.ts'
import { memoryNames } from './memory.ts'
import { named, type Results } from './results.ts'
import type { Timing } from './rounds.ts'
import { countText, ratioText, sizeText, tableOf, timeText } from './table.ts'
import { fastestSdk, peers, targetsOf } from './targets.ts'
import { referenceSize } from './tools.ts'
import type { Method } from './wire.ts'

/** Renders the results as text. */
export function reportOf(results: Results): string {
  const { machine, http, cachedList, changedList, call, memory } = results
  const sizes = [...new Set(http.map(({ size }) => size))]
  return [
    `Node ${machine.node}, ${machine.cores} cores, load ${machine.load.toFixed(1)}. × SDK: p50 relative to the fastest SDK server. × floor: p50 relative to a plain node:http server.`,
    ...sizes.flatMap((size) => [httpSection(http, size, 'tools/list'), httpSection(http, size, 'tools/call')]),
    section(`list from cache in process, ${countText(referenceSize)} tools`, localTable(cachedList, localNames.sdk)),
    section(`list after an activation in process, ${countText(referenceSize)} tools in 50 groups`, localTable(changedList)),
    section(`call in memory, ${countText(referenceSize)} tools`, localTable(call, localNames.sdkServer)),
    section(`memory of an idle session, ${countText(referenceSize)} tools`, memoryTable(memory)),
    section('targets', targetsText(results)),
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
  const headings = ['era', 'contender', 'p50', 'p99', '× SDK', '× floor', 'response', 'samples']
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

function targetsText(results: Results): string {
  const rows = targetsOf(results).map(({ what, limit, measured, isMet }) => [
    isMet ? 'met' : 'MISSED',
    what,
    measured,
    `≤ ${limit}`,
  ])
  return `${tableOf(['', 'target', 'measured', 'limit'], rows, 2)}\n\n${floorText(results.http)}`
}

/** Compares our lists with the floor. */
function floorText(http: readonly HttpTiming[]): string {
  const lists = http.filter(
    ({ size, method, name }) => size === referenceSize && method === 'tools/list' && name === httpNames.plain,
  )
  return lists
    .map((ours) => {
      const floor = named(peers(http, ours), httpNames.floor).p50
      const era = ours.era === 'session' ? 'in a session' : 'on 2026-07-28'
      const sdk = ratioText(fastestSdk(http, ours).p50 / floor)
      return `A list of ${countText(referenceSize)} tools over HTTP ${era} takes ${ratioText(ours.p50 / floor)} the floor; the fastest SDK server takes ${sdk}.`
    })
    .join('\n')
}
