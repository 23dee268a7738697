// Lists the workspaces of the repository.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

export const manifest = readManifest('')

/** Returns the package.json of a folder that is relative to the root. */
export function readManifest(folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
}

/** Folders of all workspaces, relative to the root folder: packages/core, examples, … */
export const workspaces = manifest.workspaces
  .flatMap((pattern) => (pattern.endsWith('/*') ? childrenOf(pattern.slice(0, -2)) : [pattern]))
  .filter((folder) => existsSync(join(root, folder, 'package.json')))

/** Folders of the published packages. */
export const packages = workspaces.filter((folder) => folder.startsWith('packages/'))

function childrenOf(folder) {
  return readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)
}
