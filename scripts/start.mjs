// npm start [-- --port <port>] [<options of unfold serve>]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chooseProgram } from './programs.mjs'
import { root } from './workspaces.mjs'

const args = process.argv.slice(2)
const at = args.indexOf('--port')
const [, port] = at === -1 ? [] : args.splice(at, 2)

const folder = join(root, 'examples/gateway')
// The demo servers write only into this folder, which git ignores.
process.env.UNFOLD_DEMO ??= join(folder, 'data')
mkdirSync(process.env.UNFOLD_DEMO, { recursive: true })

console.error('Starting the demo gateway. To run the unfold commands below in this folder, type npx unfold.')
const address = port === undefined ? [] : ['--http', port]
await chooseProgram('packages/cli', 'npm start --', ['main', 'serve', join(folder, 'unfold.json'), ...address, ...args])
if (process.exitCode !== 0) console.error('Use another port: npm start -- --port 8000. All options: npx unfold serve --help')
