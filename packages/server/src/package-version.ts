import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

const unknown = '0.0.0'

/** The version in the nearest package.json above a script. */
export function packageVersion(script = process.argv[1]): string {
  if (script === undefined) return unknown
  try {
    // Commands of packages are started through a link in node_modules/.bin.
    for (let folder = dirname(realpathSync(script)); ; folder = dirname(folder)) {
      const version = versionIn(join(folder, 'package.json'))
      if (version !== undefined) return version
      if (folder === dirname(folder)) return unknown
    }
  } catch {
    return unknown
  }
}

function versionIn(file: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version?: unknown }
    return typeof version === 'string' && version !== '' ? version : undefined
  } catch {
    return undefined
  }
}
