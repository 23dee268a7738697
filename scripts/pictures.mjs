// npm run pictures [-- <name> …]: makes all or the named pictures in docs/pictures from real runs.
import { run } from './processes.mjs'
import { ensureBuilt, ensureInstalled } from './setup.mjs'

const all = ['terminal', 'command-line', 'browser', 'dashboard']
const names = process.argv.length > 2 ? process.argv.slice(2) : all

const unknown = names.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`Unknown picture: ${unknown.join(', ')}. Known: ${all.join(', ')}`)
  process.exit(2)
}
await ensureInstalled()
await ensureBuilt()
for (const name of names) {
  const { code } = await run(process.execPath, [`docs/pictures/${name}.mjs`], { stdio: 'inherit' })
  if (code !== 0) process.exitCode = code
}
