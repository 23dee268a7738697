// npm run bench -- search-speed [--quick] [--json] [--against <commit>]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { countText, sizeText, tableOf } from '../list/table.ts'
import { unfold, variants } from '../retrieval/engine.ts'
import { installedPeers } from '../retrieval/peers.ts'
import { hasSets } from '../retrieval/sets.ts'
import { reportAgainst } from './against.ts'
import type { AgainstOrder, AgainstResult } from './against-child.ts'
import type { Order } from './child.ts'
import type { Speed } from './measure.ts'
import type { TableCost } from './table-child.ts'

const { quick, json, against } = parseArgs({
  options: { quick: { type: 'boolean' }, json: { type: 'boolean' }, against: { type: 'string' } },
}).values
const dataFolder = process.env.UNFOLD_DATA
const folder =
  dataFolder === undefined ? new URL('../../../../shared/data/retrieval/', import.meta.url) : pathToFileURL(`${dataFolder}/`)
const hasCatalogue = hasSets(folder) && existsSync(new URL('toucan.tools.json', folder))

/** Time limits for indexing and searching; slower engines are reported and omitted. */
const maxIndexMs = 60_000
const maxSearchMs = 10_000
/** Time limit for a comparison: two indexes, and every query twelve times. */
const maxComparisonMs = 900_000

/** Targets by number of tools: query time, index time and memory. */
const targets: { readonly [tools: number]: { readonly p95Ms: number; readonly indexMs?: number; readonly bytes?: number } } = {
  1000: { p95Ms: 1 },
  10000: { p95Ms: 2, indexMs: 1_000 },
  100000: { p95Ms: 10, bytes: 700e6 },
}
const changeMs = 1

if (!hasCatalogue) console.error('No catalogue of real tools found (UNFOLD_DATA): measuring with generated tools.')
const sizes = quick === true ? [1_000, 10_000] : [1_000, 10_000, 100_000]
if (against === undefined) await measureEngines()
else {
  const data = hasCatalogue ? folder.href : undefined
  console.error(
    `\n${await reportAgainst(against, sizes, data, (order) => fromChild<AgainstResult>('against-child.js', order, maxComparisonMs))}\n`,
  )
}

async function measureEngines(): Promise<void> {
  const peers = installedPeers(process.env.npm_execpath)
  const speeds: Speed[] = []
  for (const tools of sizes) {
    for (const { name } of [...unfold, ...peers]) {
      console.error(`Measuring ${name} with ${countText(tools)} tools …`)
      const speed = await fromChild<Speed>('child.js', {
        engine: name,
        tools,
        maxMs: maxSearchMs,
        ...(hasCatalogue && { folder: folder.href }),
      })
      if (speed === undefined) console.error(`${name} did not finish in time with ${countText(tools)} tools.`)
      else speeds.push(speed)
    }
  }
  const tableCost = await fromChild<TableCost>('table-child.js')
  console.error(`\n${reportOf(speeds)}\n\n${tableReportOf(tableCost)}\n`)
  if (json === true) console.log(JSON.stringify({ speeds, tableCost }, undefined, 2))
}

/** Returns the measurement of a child process; `undefined` if it timed out. */
async function fromChild<Result>(
  file: string,
  order?: Order | AgainstOrder,
  maxMs: number = maxIndexMs + 2 * maxSearchMs,
): Promise<Result | undefined> {
  const child = fork(new URL(file, import.meta.url), [], { execArgv: ['--expose-gc', '--max-old-space-size=6000'] })
  const timer = setTimeout(() => child.kill(), maxMs)
  try {
    if (order !== undefined) child.send(order)
    const ended = once(child, 'exit').then(() => undefined)
    const answer = once(child, 'message').then(([result]: Result[]) => result)
    return await Promise.race([answer, ended])
  } finally {
    clearTimeout(timer)
  }
}

function reportOf(all: readonly Speed[]): string {
  const table = tableOf(
    ['', 'tools', 'index', 'query p50', 'query p95', 'memory', 'peak', 'change p95'],
    all.map(({ engine, tools, indexMs, p50Ms, p95Ms, keptBytes, peakBytes, changeP95Ms }) => [
      engine,
      countText(tools),
      `${indexMs.toFixed(0)} ms`,
      msText(p50Ms),
      msText(p95Ms),
      sizeText(keptBytes),
      sizeText(peakBytes),
      msText(changeP95Ms),
    ]),
  )
  const kept = all.filter(({ engine }) => engine === variants[0].name).flatMap(targetsOf)
  return [
    'Search with ten matches per query; best of three runs per query',
    table,
    'Targets',
    tableOf(['', 'target', 'measured', ''], kept),
  ].join('\n\n')
}

function tableReportOf(cost: TableCost | undefined): string {
  if (cost === undefined) return 'The cost of the word table could not be measured.'
  return `Word table: read in ${msText(cost.decodeMs)} with the first tool; ${sizeText(cost.bytes)} of memory`
}

function targetsOf({ tools, indexMs, p95Ms = Number.NaN, peakBytes, changeP95Ms = Number.NaN }: Speed): string[][] {
  const target = targets[tools]
  if (target === undefined) return []
  const row = (what: string, limit: number, value: number, text: (value: number) => string): string[] => [
    `${what}, ${countText(tools)} tools`,
    text(limit),
    text(value),
    value <= limit ? 'met' : 'MISSED',
  ]
  return [
    row('query p95', target.p95Ms, p95Ms, msText),
    row('one change p95', changeMs, changeP95Ms, msText),
    ...(target.indexMs === undefined ? [] : [row('index', target.indexMs, indexMs, msText)]),
    ...(target.bytes === undefined ? [] : [row('memory of the process', target.bytes, peakBytes, sizeText)]),
  ]
}

function msText(ms: number | undefined): string {
  return ms === undefined ? '–' : `${ms.toFixed(2)} ms`
}
