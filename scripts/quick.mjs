// npm run test:quick [-- vitest arguments]: type check, lint of changed files, unit tests.
import { changedFiles } from './changed.mjs'
import { tool } from './processes.mjs'
import { ensureInstalled } from './setup.mjs'
import { captured, isPlain, shown, step, stepsInPairs } from './steps.mjs'

await ensureInstalled()
const files = await changedFiles()
const sources = files.filter((file) => /\.[cm]?[jt]s$/.test(file))
const success = { code: 0, output: '' }
const colours = `--colors=${isPlain ? 'off' : 'force'}`
const isClean = await stepsInPairs({
  types: () => tool('typescript/bin/tsc', ['-b'], captured),
  [`format and lint (${files.length} changed files)`]: () =>
    files.length === 0
      ? success
      : tool(
          '@biomejs/biome/bin/biome',
          ['check', '--error-on-warnings', '--no-errors-on-unmatched', '--files-ignore-unknown=true', colours, ...files],
          captured,
        ),
  [`lint with types (${sources.length} changed files)`]: () =>
    sources.length === 0 ? success : tool('oxlint/bin/oxlint', ['--type-aware', '--deny-warnings', ...sources], captured),
})
const tests = ['run', '--project', 'unit', ...process.argv.slice(2)]
const isTested = await step('unit tests', () => tool('vitest/vitest.mjs', tests, shown))
process.exitCode = isClean && isTested ? 0 : 1
