// Installs dependencies and builds everything.
// Prints to stderr only, because stdout belongs to the program that runs afterwards.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle, isBundled } from './bundle.mjs'
import { buildDashboard, hasDashboard } from './dashboard.mjs'
import { withLock } from './lock.mjs'
import { removeOutdatedOutput } from './outdated.mjs'
import { npm, tool } from './processes.mjs'
import { packages, readManifest, root, workspaces } from './workspaces.mjs'

const modules = join(root, 'node_modules')
const toStderr = ['ignore', 2, 2]

/** Installs the dependencies if package.json or package-lock.json changed. */
export async function ensureInstalled() {
  requireNode()
  await runIfChanged({
    stamp: '.unfold-install',
    inputs: manifests,
    message: 'Installing dependencies (about a minute the first time) …',
    failed: 'npm install failed, see above. It needs access to the npm registry.',
    run: () => npm(npmInstall, { stdio: toStderr }),
  })
}

/** Builds packages, examples and benchmarks if their sources changed. */
export async function ensureBuilt() {
  await runIfChanged({
    stamp: '.unfold-build',
    inputs: sources,
    hasOutput: isBuilt,
    message: 'Building …',
    failed: 'Build failed, see the compiler output above.',
    run: async () => {
      for (const folder of packages) removeOutdatedOutput(folder)
      const built = await tool('typescript/bin/tsc', ['-b', 'tsconfig.build.json'], { stdio: toStderr })
      if (built.code !== 0) return built
      await Promise.all([bundle(), buildDashboard()])
      return linkCommands()
    },
  })
}

// npm links the commands of workspaces during install only if they are already built, which they are not in a fresh clone.
async function linkCommands() {
  const missing = packages
    .map(readManifest)
    .filter(({ bin = {} }) => Object.keys(bin).some((command) => !existsSync(join(modules, '.bin', command))))
  if (missing.length === 0) return { code: 0 }
  return npm(['rebuild', ...missing.map(({ name }) => name), '--ignore-scripts', '--loglevel=error'])
}

// `npm ci` rejects the lock file if it was written with a registry that lacks optional binaries of other platforms.
const npmInstall = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
// npm 10 does not install binaries that are missing in the lock file; package.json pins the versions anyway.
if (process.platform !== 'linux') npmInstall.push('--no-package-lock')

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  console.error(`Unfold needs Node 20.19 or newer. This is Node ${process.versions.node}.`)
  console.error('Install a newer version from https://nodejs.org or with a version manager (nvm install 22), then try again.')
  process.exit(1)
}

/** Calls `run` unless it has already succeeded with the same inputs. */
async function runIfChanged({ stamp, inputs, hasOutput = () => true, message, failed, run }) {
  const file = join(modules, stamp)
  const isCurrent = () => hasOutput() && existsSync(file) && readFileSync(file, 'utf8') === inputs()
  if (isCurrent()) return
  const code = await withLock(join(modules, '.unfold-lock'), async () => {
    if (isCurrent()) return 0
    console.error(message)
    // Computed before the run, so that a file saved during the run counts as changed.
    const state = inputs()
    const result = await run()
    if (result.code === 0) writeFileSync(file, state)
    return result.code
  })
  if (code === 0) return
  console.error(failed)
  process.exit(1)
}

/** Hashes all package.json files and the lock file. */
function manifests() {
  const hash = createHash('sha256')
  for (const file of ['package.json', 'package-lock.json', ...workspaces.map((folder) => `${folder}/package.json`)]) {
    const path = join(root, file)
    hash.update(file).update(existsSync(path) ? readFileSync(path) : '')
  }
  return hash.digest('hex')
}

function isBuilt() {
  return (
    isBundled() &&
    hasDashboard() &&
    workspaces.every((folder) => existsSync(join(root, folder, 'dist')) || !existsSync(join(root, folder, 'src')))
  )
}

/** Hashes path, modification time and size of all compiler inputs. */
function sources() {
  const hash = createHash('sha256')
  const add = (path) => {
    const { mtimeMs, size } = statSync(path)
    hash.update(`${path} ${mtimeMs} ${size}\n`)
  }
  for (const folder of [root, ...workspaces.map((name) => join(root, name))]) {
    for (const name of readdirSync(folder)) if (/^(tsconfig.*|package)\.json$/.test(name)) add(join(folder, name))
    for (const path of filesIn(join(folder, 'src'))) add(path)
  }
  return hash.digest('hex')
}

function filesIn(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await ensureInstalled()
  await ensureBuilt()
}
