// npm run bench -- retrieval [--quick] [--json]
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { unfold } from './engine.ts'
import { leaveOut } from './left-out.ts'
import { measure, type SetResult } from './measure.ts'
import { installedPeers } from './peers.ts'
import { reportOf } from './report.ts'
import { hasSets, readSet, setNames } from './sets.ts'

const { quick, json } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } }).values
const dataFolder = process.env.UNFOLD_DATA
const folder =
  dataFolder === undefined ? new URL('../../../../shared/data/retrieval/', import.meta.url) : pathToFileURL(`${dataFolder}/`)

if (hasSets(folder)) await run()
else console.error('Nothing measured: no catalogues found. Set UNFOLD_DATA to the folder with the catalogues.')

async function run(): Promise<void> {
  const sets = setNames.map((name) => readSet(folder, name, quick === true ? 100 : Number.POSITIVE_INFINITY))
  const results: SetResult[] = []
  for (const engine of [unfold, ...installedPeers(process.env.npm_execpath)]) {
    console.error(`Measuring ${engine.name} …`)
    for (const set of sets) results.push(await measure(engine, set))
  }
  const leftOut = sets.map(leaveOut)
  console.error(`\n${reportOf({ sets: results, leftOut })}\n`)
  if (json === true) console.log(JSON.stringify({ sets: results, leftOut }, undefined, 2))
}
