// npm run check: all static checks of the repository.
import { run, tool } from './processes.mjs'
import { ensureBuilt, ensureInstalled } from './setup.mjs'
import { captured, isPlain, stepsInPairs } from './steps.mjs'
import { packages } from './workspaces.mjs'

const colours = `--colors=${isPlain ? 'off' : 'force'}`

await ensureInstalled()
await ensureBuilt()
const isClean = await stepsInPairs({
  types: () => tool('typescript/bin/tsc', ['-b'], captured),
  'format and lint': () =>
    tool('@biomejs/biome/bin/biome', ['ci', '--error-on-warnings', '--diagnostic-level=warn', colours], captured),
  'lint with types': () => tool('oxlint/bin/oxlint', ['--type-aware', '--deny-warnings'], captured),
  'unused code': () => tool('knip/bin/knip.js', ['--no-config-hints'], captured),
  ...Object.fromEntries(packages.map((folder) => [`exports of ${folder}`, () => exportsOf(folder)])),
  'packed files': () => run(process.execPath, ['scripts/release/contents.mjs']),
  changesets: () => run(process.execPath, ['scripts/release/changesets.mjs']),
  licences: () => run(process.execPath, ['scripts/release/licenses.mjs']),
  architecture: () => run(process.execPath, ['scripts/architecture.mjs', '--check']),
  'code in documents': () => run(process.execPath, ['scripts/fences.mjs', '--check']),
  'llms.txt': () => run(process.execPath, ['scripts/llms.mjs', '--check']),
  'lock file': () => run(process.execPath, ['scripts/lockfile.mjs']),
  'machine paths': () => run(process.execPath, ['scripts/paths.mjs']),
})
process.exitCode = isClean ? 0 : 1

function exportsOf(folder) {
  return tool('publint/src/cli.js', ['run', folder, '--strict'], captured)
}
