// npm run bench -- hosts [--json] [--only <host>,…] [--exposure <exposure>,…] [--facts | --matrix]
import { parseArgs } from 'node:util'
import { drivers } from './drivers/index.ts'
import { factsTable, observed } from './facts-table.ts'
import { advice, commandOf, fullTitle } from './installed.ts'
import { exposures } from './lab.ts'
import { matrixOf, measured } from './matrix.ts'

const { json, only, exposure, facts, matrix } = parseArgs({
  options: {
    json: { type: 'boolean' },
    only: { type: 'string' },
    exposure: { type: 'string' },
    facts: { type: 'boolean' },
    matrix: { type: 'boolean' },
  },
}).values

const chosen = drivers.filter(({ id }) => only === undefined || only.split(',').includes(id))
const present = chosen.filter((driver) => commandOf(driver) !== undefined)
for (const driver of chosen) if (!present.includes(driver)) console.error(`${fullTitle(driver)} is not installed: ${advice}.`)

const tried = exposures.filter((each) => exposure === undefined || exposure.split(',').includes(each))
const cells = facts === true ? [] : await measured(present, tried)
const all = matrix === true ? [] : await observed(present)

if (json === true) console.log(JSON.stringify({ matrix: cells, facts: all }, undefined, 2))
else console.log([...(cells.length > 0 ? [matrixOf(cells)] : []), ...(all.length > 0 ? [factsTable(all)] : [])].join('\n\n'))
