// Finds compiled files whose source was renamed or deleted: tsc leaves them in dist, and npm would pack them.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { dashboard } from './dashboard.mjs'
import { root } from './workspaces.mjs'

/** Returns the files in `dist` of a workspace, relative to it, that no source file is compiled to. */
export function outdatedOutput(folder) {
  // esbuild writes the files of the dashboard, and removes those of the last build.
  if (folder === dashboard) return []
  const from = join(root, folder, 'dist')
  if (!existsSync(from) || !existsSync(join(root, folder, 'src'))) return []
  return readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.tsbuildinfo'))
    .map((entry) => relative(from, join(entry.parentPath, entry.name)))
    .filter((file) => !hasSource(join(root, folder, 'src'), file))
    .map((file) => join('dist', file))
}

/** Deletes the compiled files of a workspace that no source file is compiled to. */
export function removeOutdatedOutput(folder) {
  for (const file of outdatedOutput(folder)) rmSync(join(root, folder, file))
}

/** Returns whether `a.js`, `a.d.ts`, or one of their maps has a source: `a.ts`, or `a.js` that is only copied. */
function hasSource(folder, file) {
  const [, name, kind] = /^(.*?)(?:\.d)?\.(m?)[jt]s(?:\.map)?$/.exec(file) ?? []
  return ['ts', 'js'].some((language) => existsSync(join(folder, `${name}.${kind}${language}`)))
}
