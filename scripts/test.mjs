// npm test [-- [--no-check] [--no-hosts] [vitest arguments]]
import { hasHosts, testHosts } from './hosts.mjs'
import { run, tool } from './processes.mjs'
import { ensureBuilt, ensureInstalled } from './setup.mjs'
import { shown, step } from './steps.mjs'
import { ensureSystemPackages } from './system-packages.mjs'

const args = process.argv.slice(2).filter((arg) => arg !== '--no-check' && arg !== '--no-hosts')
const withCheck = !process.argv.includes('--no-check')
const withHosts = args.length === 0 && !process.argv.includes('--no-hosts')

await ensureInstalled()
await ensureBuilt()
await ensureSystemPackages()
const results = []
if (withCheck) results.push(await step('check', () => run(process.execPath, ['scripts/check.mjs'], shown)))
// The host lab runs after the other projects.
const projects = args.some((arg) => arg.startsWith('--project')) ? [] : ['--project=!hosts']
results.push(await step('tests', () => tool('vitest/vitest.mjs', ['run', ...projects, ...args], shown)))
if (withHosts && hasHosts()) results.push(await testHosts())
else if (withHosts)
  console.error('Skipped: host lab (no hosts installed). npm run test:hosts installs them (about 2.9 GB) and tests them.')
process.exitCode = results.every(Boolean) ? 0 : 1
