// Packages that cannot read their package.json at run time have the version as a constant in version.ts.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from '../workspaces.mjs'

const constant = /^export const version = '([^']*)'\n$/

/** Returns the version.ts files of a package, relative to the root folder, with their versions. */
export function versionConstants(folder) {
  return readdirSync(join(root, folder, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name === 'version.ts')
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .map((file) => ({ file, version: constant.exec(readFileSync(join(root, file), 'utf8'))?.[1] }))
    .filter(({ version }) => version !== undefined)
}
