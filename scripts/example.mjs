// npm run -s example -- <name> [--http <port>]
import { chooseProgram } from './programs.mjs'

await chooseProgram('examples', 'npm run -s example --', process.argv.slice(2))
