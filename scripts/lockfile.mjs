// package-lock.json says what the package.json files say, and names no registry: everyone installs from their own.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, workspaces } from './workspaces.mjs'

const kinds = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']
const lock = readJson('package-lock.json')

for (const folder of ['', ...workspaces]) {
  const declared = readJson(join(folder, 'package.json'))
  const locked = lock.packages[folder] ?? {}
  for (const kind of kinds) {
    if (sorted(declared[kind]) !== sorted(locked[kind]))
      fail(`${join(folder, 'package.json')} has other ${kind}; run \`npm install\``)
  }
}
for (const [path, { resolved }] of Object.entries(lock.packages)) {
  if (resolved?.includes('://')) fail(`${path} names the registry it came from; .npmrc asks npm not to`)
}

function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
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
