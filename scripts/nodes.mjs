// npm run test:nodes [-- vitest arguments]: runs the tests on the other supported versions of Node.
import { installNode } from './isolated-install.mjs'
import { run } from './processes.mjs'
import { ensureBuilt, ensureInstalled } from './setup.mjs'
import { shown, step } from './steps.mjs'

const majors = [22, 24]

await ensureInstalled()
await ensureBuilt()
const results = []
for (const major of majors) {
  const node = await installNode(major)
  const tests = ['node_modules/vitest/vitest.mjs', 'run', '--project=!hosts', ...process.argv.slice(2)]
  results.push(await step(`Node ${major}`, () => run(node, tests, shown)))
}
process.exitCode = results.every(Boolean) ? 0 : 1
