// npm run test:long [-- vitest arguments]: runs the tests that use test/runs.ts, with the full number of runs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run, tool } from './processes.mjs'
import { ensureBuilt, ensureInstalled } from './setup.mjs'
import { shown, step } from './steps.mjs'
import { root } from './workspaces.mjs'

await ensureInstalled()
await ensureBuilt()
const { code, output } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.test.ts'])
if (code !== 0) throw new Error(output)
const files = output.split('\0').filter((file) => file !== '' && /from '[./]*\/runs\.ts'/.test(textOf(file)))
const options = { ...shown, env: { ...shown.env, UNFOLD_TEST_LONG: '1' } }
const isTested = await step('long tests', () => tool('vitest/vitest.mjs', ['run', ...process.argv.slice(2), ...files], options))
process.exitCode = isTested ? 0 : 1

/** Returns a file's text; empty for a file that is deleted but still in the index. */
function textOf(file) {
  try {
    return readFileSync(join(root, file), 'utf8')
  } catch {
    return ''
  }
}
