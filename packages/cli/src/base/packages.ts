import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isRecord } from '@unfold-mcp/core'
import { packageFolder } from './package-folder.ts'

/** Where generated files find the Unfold packages. */
export interface OwnPackages {
  /** Repository clone that this program runs from; undefined when installed from a registry. */
  readonly clone: string | undefined
  /** Dependency specifier for a `package.json`: a folder of the clone, or a version. */
  readonly dependency: (name: 'cli' | 'client' | 'server') => string
  /** URL of the JSON Schema of `unfold.json`. */
  readonly schema: string
}

/** Locates the packages. A clone refers to its own folders, so that generated files work with unpublished code. */
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
    dependency: (name) => `file:${join(clone, 'packages', name).replaceAll('\\', '/')}`,
    schema: pathToFileURL(join(clone, 'packages', 'gateway', 'unfold.schema.json')).href,
  }
}

export const ownPackages = (): OwnPackages => packagesFrom(packageFolder)

function cloneOf(folder: string): string | undefined {
  const root = dirname(dirname(folder))
  const manifest = join(root, 'package.json')
  if (join(root, 'packages', 'cli') !== folder || !existsSync(manifest)) return undefined
  const read: unknown = JSON.parse(readFileSync(manifest, 'utf8'))
  const isWorkspace = isRecord(read) && read.private === true && Array.isArray(read.workspaces)
  return isWorkspace && existsSync(join(root, 'packages', 'server', 'package.json')) ? root : undefined
}

export const cloneNote = ({ clone }: OwnPackages): string => (clone === undefined ? '' : `\nDependencies: ${clone}`)
