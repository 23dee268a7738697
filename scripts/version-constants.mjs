// Packages that must not read their package.json at run time have the version as a constant in src/version.ts.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packages, root } from './workspaces.mjs'

const constant = /^export const version = '([^']*)'\n$/

/** Returns the files, relative to the root, that consist of a version number. */
export function versionConstants() {
  return packages.map((folder) => `${folder}/src/version.ts`).filter((file) => readVersionConstant(file) !== undefined)
}

/** Returns the version number that a file consists of, if it does. */
export function readVersionConstant(file) {
  const path = join(root, file)
  return existsSync(path) ? constant.exec(readFileSync(path, 'utf8'))?.[1] : undefined
}
