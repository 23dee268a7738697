// npm run soak [-- --minutes <number>]
import { chooseProgram } from './programs.mjs'

await chooseProgram('bench', 'npm run soak --', ['soak', ...process.argv.slice(2)])
