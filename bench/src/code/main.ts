// npm run bench -- code [--quick] [--json] [--write <file>]; --write stores the table of docs/guides/code.md
import { writeFileSync } from 'node:fs'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { median } from '../tokens/cost.ts'
import { type Cost, exposures, solved, type Way } from './agents.ts'
import { guideTable, type Results, type Row, reportOf, targetsOf } from './report.ts'
import { speed } from './speed.ts'
import { openStage, type Stage } from './stage.ts'
import type { Workflow } from './workflow.ts'
import { officeWorkflows } from './workflows/office.ts'
import { realWorkflows } from './workflows/real.ts'

const options = { quick: { type: 'boolean' }, json: { type: 'boolean' }, write: { type: 'string' } } as const
const { quick = false, json = false, write } = parseArgs({ options }).values

const results = await measured()
const report = reportOf(results)
console.error(`\n${report}\n`)
for (const { what, isMet } of targetsOf(results)) {
  console.error(`${isMet ? 'met   ' : 'MISSED'} ${what}`)
  if (!isMet) process.exitCode = 1
}
if (write !== undefined) writeFileSync(write, `${guideTable(results)}\n`)
if (json) console.log(JSON.stringify(results, undefined, 2))

async function measured(): Promise<Results> {
  await using stage = await openStage()
  const rows: Row[] = []
  for (const workflow of [...officeWorkflows, ...realWorkflows(stage.folder)]) rows.push(await rowOf(stage, workflow))
  await using whole = await stage.client('everything')
  return { tools: (await whole.tools()).length, rows, speed: await speed(quick ? 50 : 300) }
}

async function rowOf(stage: Stage, workflow: Workflow): Promise<Row> {
  const direct = await inWay(stage, 'direct', workflow)
  const byName = await inWay(stage, 'call_tool', workflow)
  const byScript = await inWay(stage, 'run_code', workflow)
  for (const { answer } of [byName, byScript]) {
    if (isDeepStrictEqual(answer, direct.answer)) continue
    throw new Error(`${workflow.name}: ${JSON.stringify(answer)} instead of ${JSON.stringify(direct.answer)}`)
  }
  const { name, isReal, types, probe } = workflow
  const costs = { direct: direct.cost, call_tool: byName.cost, run_code: byScript.cost }
  return { name, isReal, isSingle: types.length === 0 && probe === undefined, costs }
}

/** Tokens are the same in each round; the time is the median. */
async function inWay(stage: Stage, way: Way, workflow: Workflow): Promise<{ readonly cost: Cost; readonly answer: unknown }> {
  await using client = await stage.client(exposures[way])
  const rounds: { readonly cost: Cost; readonly answer: unknown }[] = []
  for (let round = 0; round < (quick ? 1 : 5); round++) rounds.push(await solved(way, workflow, client))
  const [first] = rounds
  if (first === undefined) throw new Error('There was no round.')
  return { cost: { ...first.cost, ms: median(rounds.map(({ cost }) => cost.ms)) }, answer: first.answer }
}
