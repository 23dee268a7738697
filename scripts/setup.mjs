// Makes a fresh clone ready: dependencies installed, everything built.
// Speaks on stderr only, because stdout belongs to the program that is started afterwards.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle, isBundled } from './bundle.mjs'
import { withLock } from './lock.mjs'
import { removeOutdatedOutput } from './outdated.mjs'
import { npm, tool } from './processes.mjs'
import { packages, readManifest, root, workspaces } from './workspaces.mjs'

const modules = join(root, 'node_modules')
const toStderr = ['ignore', 2, 2]

/** Dependencies are installed as package.json and package-lock.json say; instant when they are already. */
export async function ensureInstalled() {
  requireNode()
  await keepFresh({
    stamp: '.unfold-install',
    inputs: manifests,
    doing: 'Installing dependencies; the first time takes about a minute …',
    failed: 'npm install failed; its messages are above. It needs the npm registry and nothing else.',
    run: () => npm(npmInstall, { stdio: toStderr }),
  })
}

/** Packages, examples and benchmarks are compiled from their present sources; instant when they are already. */
export async function ensureBuilt() {
  await keepFresh({
    stamp: '.unfold-build',
    inputs: sources,
    hasOutput: isBuilt,
    doing: 'Building …',
    failed: 'The build failed; the messages of the compiler are above.',
    run: async () => {
      for (const folder of packages) removeOutdatedOutput(folder)
      const built = await tool('typescript/bin/tsc', ['-b', 'tsconfig.build.json'], { stdio: toStderr })
      if (built.code !== 0) return built
      await bundle()
      return linkCommands()
    },
  })
}

// npm links the commands of our packages when it installs, but only those that are built by then: in a fresh clone, none.
async function linkCommands() {
  const missing = packages
    .map(readManifest)
    .filter(({ bin = {} }) => Object.keys(bin).some((command) => !existsSync(join(modules, '.bin', command))))
  if (missing.length === 0) return { code: 0 }
  return npm(['rebuild', ...missing.map(({ name }) => name), '--ignore-scripts', '--loglevel=error'])
}

// `npm install`, not `npm ci`: a registry that lacks other platforms' optional binaries makes the lock look incomplete to `ci`.
const npmInstall = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
// A lock written with such a registry misses those binaries, and npm 10 then skips them; package.json pins the versions anyway.
if (process.platform !== 'linux') npmInstall.push('--no-package-lock')

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  console.error(`Unfold needs Node 20.19 or newer; this is Node ${process.versions.node}.`)
  console.error('Install a current one from https://nodejs.org or with a version manager (nvm install 22) and run this again.')
  process.exit(1)
}

/** Runs `run` unless it succeeded before with the same inputs. */
async function keepFresh({ stamp, inputs, hasOutput = () => true, doing, failed, run }) {
  const file = join(modules, stamp)
  const isFresh = () => hasOutput() && existsSync(file) && readFileSync(file, 'utf8') === inputs()
  if (isFresh()) return
  const code = await withLock(join(modules, '.unfold-lock'), async () => {
    if (isFresh()) return 0
    console.error(doing)
    // Taken before the run, so that a file saved meanwhile counts as changed.
    const state = inputs()
    const done = await run()
    if (done.code === 0) writeFileSync(file, state)
    return done.code
  })
  if (code === 0) return
  console.error(failed)
  process.exit(1)
}

/** The content of all manifests and of the lock file, as one hash. */
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
    isBundled() && workspaces.every((folder) => existsSync(join(root, folder, 'dist')) || !existsSync(join(root, folder, 'src')))
  )
}

/** Path, time and size of everything the compiler reads, as one hash. */
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
