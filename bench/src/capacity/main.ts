// npm run bench -- capacity
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { unfold } from '../gateway/gateways.ts'
import { filled } from '../gateway/life.ts'
import { Stage } from '../gateway/stage.ts'
import { UpstreamSet } from '../gateway/upstreams.ts'
import { streamableWire } from '../gateway/wires/streamable.ts'
import type { Wire } from '../gateway/wires/wire.ts'
import { sizeText, tableOf } from '../list/table.ts'

// Together less than the default limit of 1,000 sessions.
const warmUp = 100
const sessions = 400
const limitBytes = 25_000
const pollMs = 20

const probe = new URL('servers/heap.js', import.meta.url).href
const folder = await mkdtemp(join(tmpdir(), 'unfold-bench-capacity-'))
const heapFile = join(folder, 'heap')
try {
  await using stage = new Stage()
  const environment = { NODE_OPTIONS: `--import ${probe}`, BENCH_HEAP_FILE: heapFile }
  const running = await stage.add(UpstreamSet.of(1, 20), (set) => unfold.start(set, { environment }))
  await filled(running)
  const { pid = 0, url } = running
  await closed(await opened(url, warmUp, false))
  const before = await liveHeap(pid)
  await closed(await opened(url, sessions, false))
  const idle = await liveHeap(pid)
  const wires = await opened(url, sessions, true)
  const listening = await liveHeap(pid)
  await closed(wires)
  const rows = [
    row('session without open connections', (idle - before) / sessions),
    row('session with its stream and one more connection', (listening - idle) / sessions),
  ]
  console.log(`Live heap of the gateway per idle session, ${sessions} sessions, load ${(loadavg()[0] ?? 0).toFixed(1)}`)
  console.log(tableOf(['', 'target', 'measured', 'limit'], rows, 2))
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Opens sessions that have listed their tools. */
async function opened(url: string, count: number, receivesNotifications: boolean): Promise<readonly Wire[]> {
  const wires: Wire[] = []
  for (let index = 0; index < count; index++) {
    const wire = await streamableWire(url, { receivesNotifications })
    await wire.ask('tools/list')
    wires.push(wire)
  }
  return wires
}

/** Closes the connections. The sessions stay. */
async function closed(wires: readonly Wire[]): Promise<void> {
  for (const wire of wires) await wire[Symbol.asyncDispose]()
}

async function liveHeap(pid: number): Promise<number> {
  await rm(heapFile, { force: true })
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(heapFile)) await pause(pollMs)
  return Number(await readFile(heapFile, 'utf8'))
}

function row(what: string, bytes: number): readonly string[] {
  return [bytes <= limitBytes ? 'met' : 'MISSED', what, sizeText(bytes), `≤ ${sizeText(limitBytes)}`]
}
