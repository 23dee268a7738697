// npm run browser -- [<url>] [options of unfold-browser]
import { chooseProgram } from './programs.mjs'

await chooseProgram('packages/browser', 'npm run browser --', ['main', ...process.argv.slice(2)])
