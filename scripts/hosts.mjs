// npm run test:hosts [-- [--install] [vitest arguments]]: installs the hosts in test/hosts/package.json and runs the host lab.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installNode } from './isolated-install.mjs'
import { withLock } from './lock.mjs'
import { npm, tool } from './processes.mjs'
import { ensureBuilt, ensureInstalled } from './setup.mjs'
import { shown, step } from './steps.mjs'
import { root } from './workspaces.mjs'

const manifest = join(root, 'test/hosts/package.json')

/** Returns the hosts as npm package specs: `opencode-ai@1.18.33`. */
function specs() {
  return Object.entries(JSON.parse(readFileSync(manifest, 'utf8')).dependencies).map(([name, version]) => `${name}@${version}`)
}

function folderOf(spec) {
  return join('.hosts', spec.slice(0, spec.indexOf('@', 1)).replace('/', '+'))
}

function isInstalled(spec) {
  const stamp = join(root, folderOf(spec), 'installed')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === spec
}

/** Returns whether at least one host is installed. */
export function hasHosts() {
  return specs().some(isInstalled)
}

/**
 * Installs missing hosts, each into its own folder, so that one failure does not affect the others.
 * Install scripts do not run: the binaries are platform packages, and some scripts need a compiler.
 */
export async function installHosts() {
  const missing = specs().filter((spec) => !isInstalled(spec))
  for (const [at, spec] of missing.entries()) {
    const count = `${at + 1} of ${missing.length}`
    console.error(`Installing ${spec} into ${folderOf(spec)} (${count}) …`)
    const failure = await withLock(join(root, `${folderOf(spec)}.lock`), () => install(spec))
    if (failure === undefined) console.error(`Installed ${spec}: ${await megabytes(join(root, folderOf(spec)))} MB (${count})`)
    else console.error(`Skipped ${spec}: npm install failed.\n${failure}`)
  }
  // Some hosts need Node 22.
  if (Number(process.versions.node.split('.')[0]) < 22) await installNode(22)
}

async function install(spec) {
  if (isInstalled(spec)) return undefined
  const folder = folderOf(spec)
  rmSync(join(root, folder), { recursive: true, force: true })
  const args = ['install', '--prefix', folder, '--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund']
  const { code, output } = await npm([...args, '--loglevel=error', spec])
  if (code !== 0) return output.trimEnd()
  writeFileSync(join(root, folder, 'installed'), spec)
  return undefined
}

async function megabytes(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(
    entries.filter((entry) => entry.isFile()).map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  )
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1e6)
}

/** Runs the host lab with the installed hosts. */
export function testHosts(args = []) {
  return step('hosts', () => tool('vitest/vitest.mjs', ['run', '--project', 'hosts', ...args], shown))
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.slice(2)
  await ensureInstalled()
  await installHosts()
  if (!args.includes('--install')) {
    await ensureBuilt()
    process.exitCode = (await testHosts(args)) ? 0 : 1
  }
}
