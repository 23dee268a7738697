// npm run bench -- dashboard [--quick] [--json]
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { streamableWire } from '../gateway/wires/streamable.ts'
import { successful } from '../gateway/wires/wire.ts'
import { timingOf } from '../list/rounds.ts'
import { sizeText, tableOf, timeText } from '../list/table.ts'
import { playServers, type Started, startGateway } from './gateway.ts'
import { measureIdle } from './idle.ts'
import { cpuMeter, type Frames, goTo, openPage, timeFilter, timeLoad, timeScreen, watchFrames } from './page.ts'

const { quick = false, json } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } }).values
const rounds = quick ? 3 : 9
const burst = { perSecond: 500, seconds: quick ? 3 : 8 }
const serverCount = 200
const frameMs = 1_000 / 60

interface Row {
  readonly what: string
  readonly measured: string
  readonly limit: string
  readonly isMet: boolean
}

const load = (loadavg()[0] ?? 0).toFixed(1)
await using played = await playServers()
console.error(`Measuring a page with ${serverCount} servers and ${5 * serverCount} tools …`)
const rows = [sizeRow(), ...(await pageRows())]
console.error('Measuring start and memory with and without the dashboard …')
rows.push(...(await idleRows()))
if (json === true) console.log(JSON.stringify(rows, undefined, 2))
else {
  console.log(`Node ${process.version}, ${availableParallelism()} cores, load ${load}`)
  console.log(
    tableOf(
      ['', 'target', 'measured', 'limit'],
      rows.map(({ what, measured, limit, isMet }) => [isMet ? 'met' : 'MISSED', what, measured, limit]),
      2,
    ),
  )
}

/** All files of the first screen. */
function sizeRow(): Row {
  const folder = new URL('../../../packages/dashboard/dist/', import.meta.url)
  const files = ['index.html', ...readdirSync(fileURLToPath(new URL('assets/', folder))).map((name) => `assets/${name}`)]
  const bytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(new URL(name, folder))).length, 0)
  return { what: 'all files of the page, gzipped', measured: sizeText(bytes), limit: sizeText(150_000), isMet: bytes <= 150_000 }
}

async function pageRows(): Promise<readonly Row[]> {
  await using gateway = await startGateway({ servers: serverCount, played })
  const { url } = await gateway.admin<{ readonly url: string }>('POST', '/links')
  await using open = await openPage(url)
  const { page } = open
  const { origin } = new URL(gateway.url)
  const cpu = await cpuMeter(page)
  const found: Row[] = []
  for (const [hash, label] of [
    ['#/tools', 'Tools'],
    ['#/servers', 'Servers'],
  ] as const) {
    const count = label === 'Tools' ? 5 * serverCount : serverCount
    const [loads, shows, works]: [number[], number[], number[]] = [[], [], []]
    for (let round = 0; round < rounds; round++) loads.push(await timeLoad(page, `${origin}/ui/${hash}`, label))
    for (let round = 0; round < rounds; round++) {
      const before = await cpu()
      shows.push(await timeScreen(page, hash, label))
      works.push((await cpu()) - before)
    }
    const before = await cpu()
    const filters = await timeFilter(page, 'area12')
    const work = ((await cpu()) - before) / filters.length
    found.push(
      timeRow(`${count} ${label.toLowerCase()}, page load until painted (p50)`, loads, 0.5, 500),
      timeRow('the same, within the page (p50)', shows, 0.5, 500),
      timeRow('the same, CPU time of the page (p50)', works, 0.5, 500),
      timeRow('the same, a keystroke in the filter (p50)', filters, 0.5, frameMs),
      timeRow('the same, CPU time of the page per keystroke (mean)', [work], 0.5, frameMs),
    )
  }
  const frames = await burstOn(gateway, page)
  const what = `${frames.seen} calls, ${burst.perSecond} per second: longest time between frames`
  return [
    ...found,
    { what, measured: timeText(frames.max * 1_000), limit: timeText(100_000), isMet: frames.max <= 100 },
    {
      what: 'the same, updates of the page per second',
      measured: (frames.updates / frames.seconds).toFixed(1),
      limit: '≤ 60',
      isMet: frames.updates / frames.seconds <= 60,
    },
    {
      what: 'the same, CPU time of the page per second',
      measured: timeText((frames.cpuMs / frames.seconds) * 1_000),
      limit: timeText(500_000),
      isMet: frames.cpuMs / frames.seconds <= 500,
    },
    {
      what: 'the same, time in tasks of 50 ms or more',
      measured: timeText(frames.longMs * 1_000),
      limit: timeText(frames.seconds * 50_000),
      isMet: frames.longMs <= frames.seconds * 50,
    },
  ]
}

function timeRow(what: string, ms: readonly number[], share: 0.5 | 0.95, limitMs: number): Row {
  const { p50, p95 } = timingOf(what, ms)
  const measured = share === 0.5 ? p50 : p95
  return { what, measured: timeText(measured * 1_000), limit: timeText(limitMs * 1_000), isMet: measured <= limitMs }
}

/** Calls tools at a steady rate while the activity is open. */
async function burstOn(
  gateway: Started,
  page: Awaited<ReturnType<typeof openPage>>['page'],
): Promise<Frames & { readonly cpuMs: number; readonly seen: number; readonly seconds: number }> {
  await goTo(page, '#/activity', 'Activity')
  await page.getByText('Live', { exact: true }).waitFor()
  const wires = await Promise.all(Array.from({ length: 8 }, () => streamableWire(gateway.url)))
  try {
    const stop = await watchFrames(page)
    const cpu = await cpuMeter(page)
    const before = await cpu()
    const begin = performance.now()
    const total = burst.perSecond * burst.seconds
    let sent = 0
    await Promise.all(
      wires.map(async (wire) => {
        while (sent < total) {
          const due = begin + (sent++ / burst.perSecond) * 1_000
          if (due > performance.now()) await pause(due - performance.now())
          successful(await wire.ask('tools/call', { name: 'area000__read_items', arguments: {} }))
        }
      }),
    )
    const seconds = (performance.now() - begin) / 1_000
    const frames = { ...(await stop()), cpuMs: (await cpu()) - before }
    return { ...frames, seen: total, seconds }
  } finally {
    for (const wire of wires) await wire[Symbol.asyncDispose]()
  }
}

async function idleRows(): Promise<readonly Row[]> {
  const { with: on, without: off } = await measureIdle(played, rounds)
  const row = (what: string, text: (value: number) => string, [a, b]: readonly [number, number]): Row => ({
    what,
    measured: `${text(a)}, without ${text(b)} (${a >= b ? '+' : ''}${((a / b - 1) * 100).toFixed(1)} %)`,
    limit: '+5 %',
    isMet: a / b <= 1.05,
  })
  return [
    row('start with 20 servers until all tools are there, dashboard not opened', (ms) => timeText(ms * 1_000), [
      on.startMs,
      off.startMs,
    ]),
    row('memory after 200 lists, dashboard not opened', sizeText, [on.bytes, off.bytes]),
  ]
}
