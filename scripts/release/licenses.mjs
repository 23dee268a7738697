// Checks the licences of all dependencies of the published packages, from package-lock.json.
import { readLock } from '../lockfile.mjs'
import { packages } from '../workspaces.mjs'

// Permissive licences.
const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0',
])

const exceptions = {
  // Copyleft applies only to modified files; the package is installed unmodified and not bundled.
  'axe-core': 'MPL-2.0',
}

const lock = readLock()
for (const path of installed()) {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const { version, license } = lock.packages[path]
  if (isAllowed(license) || (license !== undefined && exceptions[name] === license)) continue
  console.error(`${name} ${version}: licence ${license ?? 'unknown'} is not allowed. See scripts/release/licenses.mjs.`)
  process.exitCode = 1
}

/** Accepts an allowed licence, or a choice that includes one: `(MIT OR GPL-3.0)`. */
function isAllowed(license = '') {
  return license
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((each) => allowed.has(each))
}

/** Returns the paths in the lock file of all dependencies of the published packages, direct or not. */
function installed() {
  const seen = new Set(packages)
  // Iterating a Set includes elements added during the loop.
  for (const path of seen) {
    const { dependencies, optionalDependencies, peerDependencies } = lock.packages[path]
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const found = locate(path, name)
      // Optional dependencies for other systems may be missing; our own packages are links to their folders.
      if (found !== undefined && lock.packages[found].link !== true) seen.add(found)
    }
  }
  return [...seen].filter((path) => path.includes('node_modules/'))
}

/** Returns where Node finds `name` from `path`: the nearest node_modules going up. */
function locate(path, name) {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const candidate = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (lock.packages[candidate] !== undefined) return candidate
    if (folder === '') return undefined
  }
}
