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
const given = process.env.UNFOLD_DATA
const folder = given === undefined ? new URL('../../../../shared/data/retrieval/', import.meta.url) : pathToFileURL(`${given}/`)

if (hasSets(folder)) await run()
else
  console.error(
    'The catalogues to measure on are not here. Point UNFOLD_DATA at the folder that holds them; nothing was measured.',
  )

async function run(): Promise<void> {
  const sets = setNames.map((name) => readSet(folder, name, quick === true ? 100 : Number.POSITIVE_INFINITY))
  const results: SetResult[] = []
  for (const engine of [unfold, ...installedPeers(process.env.npm_execpath)]) {
    console.error(`Asking ${engine.name} …`)
    for (const set of sets) results.push(await measure(engine, set))
  }
  const leftOut = sets.map(leaveOut)
  console.error(`\n${reportOf({ sets: results, leftOut })}\n`)
  if (json === true) console.log(JSON.stringify({ sets: results, leftOut }, undefined, 2))
}
