// npm run bench -- modes [--quick] [--json]
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ChromiumMissing } from '@unfold-mcp/browser'
import { countText, sizeText, tableOf } from '../list/table.ts'
import { heldOver } from './flatness.ts'
import { asRequests, inProcess, type Listing } from './listing.ts'
import { type Loading, loadingTimes } from './loading.ts'

const { quick = false, json = false } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } }).values

if (global.gc === undefined) {
  // Heap measurements need explicit garbage collection.
  const self = fileURLToPath(import.meta.url)
  const { status } = spawnSync(process.execPath, ['--expose-gc', self, ...process.argv.slice(2)], { stdio: 'inherit' })
  process.exit(status ?? 1)
}

const targets = { p50Us: 100, p99Us: 1_000, loadRatio: 1.15, growth: 1.1 } as const

console.error('Measuring lists with full buffers, in process …')
const listing = await inProcess(quick ? 2_000 : 20_000)
console.error('Measuring lists with full buffers, as requests …')
const requests = await asRequests(quick ? 1_000 : 5_000)
console.error('Measuring memory while capturing events …')
const held = heldOver(quick ? 100_000 : 1_000_000)
console.error('Measuring page loads, watched and not …')
const loading = await loaded(quick ? 5 : 40)
const [first, last] = [held[1], held.at(-1)]
const growth = first === undefined || last === undefined ? 1 : last.heapBytes / first.heapBytes

console.error(`
tools/list of the browser server, every buffer full and one more log entry before each list

${tableOf(
  ['', 'lists', 'p50', 'p99', 'heap growth per list', 'response'],
  [rowOf('in process', listing), rowOf('as a 2026-07-28 request', requests)],
)}

Heap while events are captured

${tableOf(
  ['events', 'heap', 'records held', 'evicted'],
  held.map(({ events, heapBytes, records, evicted }) => [
    countText(events),
    sizeText(heapBytes),
    countText(records),
    countText(evicted),
  ]),
)}

Targets

${tableOf(
  ['', 'target', 'measured', ''],
  [
    ['list p50', `${targets.p50Us} µs`, `${listing.p50Us.toFixed(0)} µs`, verdict(listing.p50Us <= targets.p50Us)],
    ['list p99', `${targets.p99Us} µs`, `${listing.p99Us.toFixed(0)} µs`, verdict(listing.p99Us <= targets.p99Us)],
    [
      'page load, watched / unwatched',
      `${targets.loadRatio} ×`,
      loadText(loading),
      verdict(loading === undefined ? undefined : ratioOf(loading) <= targets.loadRatio),
    ],
    ['heap, last tenth / second tenth', `${targets.growth} ×`, `${growth.toFixed(2)} ×`, verdict(growth <= targets.growth)],
  ],
)}
`)
if (json) console.log(JSON.stringify({ listing, requests, held, loading }, undefined, 2))

async function loaded(loads: number): Promise<Loading | undefined> {
  try {
    return await loadingTimes(loads)
  } catch (error) {
    if (!(error instanceof ChromiumMissing)) throw error
    console.error(`Not measured: ${error.message}`)
    return undefined
  }
}

function rowOf(name: string, { lists, p50Us, p99Us, keptBytes, answerBytes }: Listing): string[] {
  return [name, countText(lists), `${p50Us.toFixed(0)} µs`, `${p99Us.toFixed(0)} µs`, sizeText(keptBytes), sizeText(answerBytes)]
}

function ratioOf({ plainMs, watchedMs }: Loading): number {
  return watchedMs / plainMs
}

function loadText(times: Loading | undefined): string {
  if (times === undefined) return 'not measured'
  return `${ratioOf(times).toFixed(2)} × (${times.watchedMs.toFixed(0)} ms : ${times.plainMs.toFixed(0)} ms, fastest quarter of ${times.loads})`
}

function verdict(isMet: boolean | undefined): string {
  return isMet === undefined ? '' : isMet ? 'met' : 'MISSED'
}
