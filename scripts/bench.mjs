// npm run bench -- <suite>
import { chooseProgram } from './programs.mjs'

await chooseProgram('bench', 'npm run bench --', process.argv.slice(2))
