// npm run bench -- retrieval [--quick] [--json]
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { unfold, variants } from './engine.ts'
import { leaveOut } from './left-out.ts'
import { measure, type SetResult } from './measure.ts'
import { measureOwn } from './own/measure.ts'
import { ownReportOf } from './own/report.ts'
import { searchWith } from './own/search.ts'
import { installedPeers } from './peers.ts'
import { type Results, reportOf } from './report.ts'
import { hasSets, readSet, setNames } from './sets.ts'

const { quick, json } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'boolean' } } }).values
const dataFolder = process.env.UNFOLD_DATA
const folder =
  dataFolder === undefined ? new URL('../../../../shared/data/retrieval/', import.meta.url) : pathToFileURL(`${dataFolder}/`)

const published = hasSets(folder) ? await measurePublished() : undefined
if (published === undefined) {
  console.error('Only our own sets are measured. For the published catalogues, set UNFOLD_DATA to the folder that contains them.')
}
console.error('Measuring our own sets …')
const own = variants.map((variant) => measureOwn(variant.name, searchWith(variant), folder))
console.error(`\n${[...(published === undefined ? [] : [reportOf(published)]), ownReportOf(own)].join('\n\n')}\n`)
if (json === true) console.log(JSON.stringify({ ...published, own }, undefined, 2))

async function measurePublished(): Promise<Results> {
  const sets = setNames.map((name) => readSet(folder, name, quick === true ? 100 : Number.POSITIVE_INFINITY))
  const results: SetResult[] = []
  for (const engine of [...unfold, ...installedPeers(process.env.npm_execpath)]) {
    console.error(`Measuring ${engine.name} …`)
    for (const set of sets) results.push(await measure(engine, set))
  }
  return { sets: results, leftOut: variants.flatMap((variant) => sets.map((set) => leaveOut(set, variant))) }
}
