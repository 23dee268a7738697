// npm start [-- --port <port>]
import { chooseProgram } from './programs.mjs'

const args = process.argv.slice(2)
const at = args.indexOf('--port')
const [, port = '7420'] = at === -1 ? [] : args.splice(at, 2)

await chooseProgram('examples', 'npm run example --', ['automation-hub', '--http', port, ...args])
