import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isRecord } from '@unfold-mcp/core'
import { packageFolder } from './package-folder.ts'

/** Where our packages are found by files that this program writes. */
export interface OwnPackages {
  /** The clone of the repository that this program runs from; nothing where it was installed from a registry. */
  readonly clone: string | undefined
  /** What a `package.json` says to depend on one of our packages: a folder of the clone, or a version. */
  readonly dependency: (name: 'cli' | 'client' | 'server') => string
  /** Where editors find the schema of `unfold.json`. */
  readonly schema: string
}

/**
 * Our packages as seen from the folder of this one. A clone refers to its own folders: what a clone writes runs with the code that
 * wrote it, also while that is not published.
 */
export function packagesFrom(folder: string): OwnPackages {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string }
  const clone = cloneOf(realpathSync(folder))
  if (clone === undefined)
    return {
      clone,
      dependency: () => version,
      schema: `https://unpkg.com/@unfold-mcp/gateway@${version}/unfold.schema.json`,
    }
  return {
    clone,
    // Written with slashes on Windows too.
    dependency: (name) => `file:${join(clone, 'packages', name).replaceAll('\\', '/')}`,
    schema: pathToFileURL(join(clone, 'packages', 'gateway', 'unfold.schema.json')).href,
  }
}

/** The packages of the program that runs. */
export const ownPackages = (): OwnPackages => packagesFrom(packageFolder)

function cloneOf(folder: string): string | undefined {
  const root = dirname(dirname(folder))
  const manifest = join(root, 'package.json')
  if (join(root, 'packages', 'cli') !== folder || !existsSync(manifest)) return undefined
  const read: unknown = JSON.parse(readFileSync(manifest, 'utf8'))
  const isWorkspace = isRecord(read) && read.private === true && Array.isArray(read.workspaces)
  return isWorkspace && existsSync(join(root, 'packages', 'server', 'package.json')) ? root : undefined
}

/** What to say of files that refer to a clone. */
export const cloneNote = ({ clone }: OwnPackages): string =>
  clone === undefined ? '' : `\nIts package.json refers to the packages in ${clone}.`
