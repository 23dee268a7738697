// npm test [-- [--no-check] [--no-hosts] [vitest arguments]]
import { ensureChromium } from './chromium.mjs'
import { hasHosts, testHosts } from './hosts.mjs'
import { run, tool } from './processes.mjs'
import { ensureBuilt, ensureInstalled } from './setup.mjs'
import { ensureShells } from './shells.mjs'
import { shown, step } from './steps.mjs'

const args = process.argv.slice(2).filter((arg) => arg !== '--no-check' && arg !== '--no-hosts')
const withCheck = !process.argv.includes('--no-check')
const withHosts = args.length === 0 && !process.argv.includes('--no-hosts')

await ensureInstalled()
await ensureBuilt()
await ensureChromium()
await ensureShells()
const results = []
if (withCheck) results.push(await step('check', () => run(process.execPath, ['scripts/check.mjs'], shown)))
// Part of the tests covers part of the code; the thresholds speak of the whole.
const coverage = args.length === 0 ? ['--coverage'] : []
results.push(await step('tests', () => tool('vitest/vitest.mjs', ['run', ...coverage, ...args], shown)))
if (withHosts && hasHosts()) results.push(await testHosts())
else if (withHosts) console.error('Not tested: real hosts. npm run test:hosts installs them (about 2.9 GB) and tests with them.')
process.exitCode = results.every(Boolean) ? 0 : 1
