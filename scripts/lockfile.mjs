// Checks that package-lock.json matches the package.json files and contains no registry URLs, so that any registry works.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readManifest, root, workspaces } from './workspaces.mjs'

const kinds = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']
const file = join(root, 'package-lock.json')

/** Returns package-lock.json as data. */
export function readLock() {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Copies versions and dependencies of the workspaces into package-lock.json, without network access. */
export function writeLockedManifests() {
  const lock = readLock()
  for (const folder of workspaces) {
    const declared = readManifest(folder)
    for (const key of ['version', ...kinds]) if (declared[key] !== undefined) lock.packages[folder][key] = declared[key]
  }
  writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`)
}

function check() {
  const lock = readLock()
  for (const folder of ['', ...workspaces]) {
    const declared = readManifest(folder)
    const locked = lock.packages[folder] ?? {}
    if (declared.version !== locked.version) fail(`${join(folder, 'package.json')} has a different version; run \`npm install\``)
    for (const kind of kinds) {
      if (sorted(declared[kind]) !== sorted(locked[kind]))
        fail(`${join(folder, 'package.json')} has different ${kind}; run \`npm install\``)
    }
  }
  for (const [path, { resolved }] of Object.entries(lock.packages)) {
    if (resolved?.includes('://')) fail(`${path} contains a registry URL; npm omits it with the settings in .npmrc`)
  }
}

function sorted(record = {}) {
  return JSON.stringify(
    Object.keys(record)
      .toSorted()
      .map((name) => [name, record[name]]),
  )
}

function fail(problem) {
  console.error(`package-lock.json: ${problem}`)
  process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) check()
