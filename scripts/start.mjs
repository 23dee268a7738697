// npm start [-- --port <port>] [<options of unfold serve>]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chooseProgram } from './programs.mjs'
import { root } from './workspaces.mjs'

const args = process.argv.slice(2)
const at = args.indexOf('--port')
const [, port] = at === -1 ? [] : args.splice(at, 2)

const folder = join(root, 'examples/gateway')
// What the servers of the demonstration write stays in one place, which git does not look at.
process.env.UNFOLD_DEMO ??= join(folder, 'data')
mkdirSync(process.env.UNFOLD_DEMO, { recursive: true })

console.error('The demonstration of the gateway. Where it says unfold, type npx unfold in this folder.')
const address = port === undefined ? [] : ['--http', port]
await chooseProgram('packages/cli', 'npm start --', ['main', 'serve', join(folder, 'unfold.json'), ...address, ...args])
if (process.exitCode !== 0) console.error('Another port: npm start -- --port 8000. All options: npx unfold serve --help')
