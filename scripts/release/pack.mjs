// npm run pack -- <folder>: builds the published packages and packs them into a folder.
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { npm } from '../processes.mjs'
import { ensureBuilt, ensureInstalled } from '../setup.mjs'
import { packages } from '../workspaces.mjs'

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Usage: npm run pack -- <folder>')
  process.exit(2)
}
await ensureInstalled()
await ensureBuilt()
// npm runs scripts in the root folder; a relative path refers to the folder of the caller.
const destination = resolve(process.env.INIT_CWD ?? '.', folder)
mkdirSync(destination, { recursive: true })
const workspaces = packages.flatMap((each) => ['--workspace', each])
const { code } = await npm(['pack', '--silent', ...workspaces, '--pack-destination', destination], { stdio: 'inherit' })
process.exitCode = code
