// npm run bench -- search-speed [--quick] [--json]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { countText, sizeText, tableOf } from '../list/table.ts'
import { unfold } from '../retrieval/engine.ts'
import { installedPeers } from '../retrieval/peers.ts'
import { hasSets } from '../retrieval/sets.ts'
import type { Order } from './child.ts'
import type { Speed } from './measure.ts'

const { quick, json } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } }).values
const given = process.env.UNFOLD_DATA
const folder = given === undefined ? new URL('../../../../shared/data/retrieval/', import.meta.url) : pathToFileURL(`${given}/`)
const isThere = hasSets(folder) && existsSync(new URL('toucan.tools.json', folder))

/** What an engine may take to index and then to search; slower ones are named and left out. */
const mostIndexMs = 60_000
const mostSearchMs = 10_000

/** What is promised, by number of tools: milliseconds for a query and for the whole index, bytes that are kept. */
const promises: { readonly [tools: number]: { readonly p95Ms: number; readonly indexMs?: number; readonly bytes?: number } } = {
  1000: { p95Ms: 1 },
  10000: { p95Ms: 2, indexMs: 1_000 },
  100000: { p95Ms: 10, bytes: 700e6 },
}
const changeMs = 1

if (!isThere) console.error('The catalogue of real tools is not here (UNFOLD_DATA); measuring on generated ones.')
const peers = installedPeers(process.env.npm_execpath)
const speeds: Speed[] = []
for (const tools of quick === true ? [1_000, 10_000] : [1_000, 10_000, 100_000]) {
  for (const { name } of [unfold, ...peers]) {
    console.error(`Measuring ${name} with ${countText(tools)} tools …`)
    const speed = await measured({ engine: name, tools, mostMs: mostSearchMs, ...(isThere && { folder: folder.href }) })
    if (speed === undefined) console.error(`${name} did not finish in time with ${countText(tools)} tools.`)
    else speeds.push(speed)
  }
}
console.error(`\n${reportOf(speeds)}\n`)
if (json === true) console.log(JSON.stringify(speeds, undefined, 2))

/** What a child measured; nothing when it took too long. */
async function measured(order: Order): Promise<Speed | undefined> {
  const child = fork(new URL('child.js', import.meta.url), [], { execArgv: ['--expose-gc', '--max-old-space-size=6000'] })
  const timer = setTimeout(() => child.kill(), mostIndexMs + 2 * mostSearchMs)
  try {
    child.send(order)
    const ended = once(child, 'exit').then(() => undefined)
    const answer = once(child, 'message').then(([speed]: Speed[]) => speed)
    return await Promise.race([answer, ended])
  } finally {
    clearTimeout(timer)
  }
}

function reportOf(all: readonly Speed[]): string {
  const table = tableOf(
    ['', 'tools', 'index', 'query p50', 'query p95', 'kept', 'peak', 'change p95'],
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
  const kept = all.filter(({ engine }) => engine === unfold.name).flatMap(promisesOf)
  return [
    'Searching, ten matches a query; of each query the best of three runs',
    table,
    'Promises',
    tableOf(['', 'promised', 'measured', ''], kept),
  ].join('\n\n')
}

function promisesOf({ tools, indexMs, p95Ms = Number.NaN, peakBytes, changeP95Ms = Number.NaN }: Speed): string[][] {
  const promise = promises[tools]
  if (promise === undefined) return []
  const row = (what: string, limit: number, value: number, text: (value: number) => string): string[] => [
    `${what}, ${countText(tools)} tools`,
    text(limit),
    text(value),
    value <= limit ? 'kept' : 'broken',
  ]
  return [
    row('query p95', promise.p95Ms, p95Ms, msText),
    row('one change p95', changeMs, changeP95Ms, msText),
    ...(promise.indexMs === undefined ? [] : [row('index', promise.indexMs, indexMs, msText)]),
    ...(promise.bytes === undefined ? [] : [row('memory of the process', promise.bytes, peakBytes, sizeText)]),
  ]
}

function msText(ms: number | undefined): string {
  return ms === undefined ? '–' : `${ms.toFixed(2)} ms`
}
