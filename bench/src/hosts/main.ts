// npm run bench -- hosts [--json] [--only <host>,…] [--exposure <exposure>,…]
import { parseArgs } from 'node:util'
import { drivers } from './drivers/index.ts'
import { advice, commandOf, fullTitle } from './installed.ts'
import { exposures } from './lab.ts'
import { matrixOf, measured } from './matrix.ts'

const { json, only, exposure } = parseArgs({
  options: { json: { type: 'boolean' }, only: { type: 'string' }, exposure: { type: 'string' } },
}).values

const chosen = drivers.filter(({ id }) => only === undefined || only.split(',').includes(id))
const present = chosen.filter((driver) => commandOf(driver) !== undefined)
for (const driver of chosen) if (!present.includes(driver)) console.error(`${fullTitle(driver)} is not installed: ${advice}.`)

const rows = await measured(
  present,
  exposures.filter((each) => exposure === undefined || exposure.split(',').includes(each)),
)
console.log(json === true ? JSON.stringify(rows, undefined, 2) : matrixOf(rows))
