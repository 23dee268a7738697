import { lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

/** Symbolic link on the way to a file. */
export interface Link {
  readonly path: string
  readonly target: string
}

export interface Resolved {
  /** Path without symbolic links. */
  readonly real: string
  readonly links: readonly Link[]
  /** The file under each of its names, from the given one to `real`. */
  readonly names: readonly string[]
}

const maxLinks = 40

/** Follows symbolic links one by one. `undefined` if the file does not exist. */
export function resolveLinks(path: string): Resolved | undefined {
  const links: Link[] = []
  const names = [resolve(path)]
  for (let count = 0; count <= maxLinks; count++) {
    const current = names.at(-1) ?? '/'
    const link = firstLink(current)
    if (link === undefined) return statOf(current) === undefined ? undefined : { real: current, links, names }
    links.push(link)
    names.push(resolve(dirname(link.path), link.target, relative(link.path, current)))
  }
  return undefined
}

function firstLink(path: string): Link | undefined {
  let at = '/'
  for (const part of path.split(sep).filter((each) => each !== '')) {
    at = join(at, part)
    try {
      if (lstatSync(at).isSymbolicLink()) return { path: at, target: readlinkSync(at) }
    } catch {
      return undefined
    }
  }
  return undefined
}

/** True if `path` is `folder` or inside it. Both without symbolic links. */
export function isInside(path: string, folder: string): boolean {
  const rest = relative(folder, path)
  return rest === '' || !(rest === '..' || rest.startsWith(`..${sep}`))
}

export function statOf(path: string): ReturnType<typeof statSync> {
  return statSync(path, { throwIfNoEntry: false })
}

export const isFile = (path: string): boolean => tryOr(() => statOf(path)?.isFile() === true, false)

export const isFolder = (path: string): boolean => tryOr(() => statOf(path)?.isDirectory() === true, false)

export const realOrSame = (path: string): string => tryOr(() => realpathSync(path), resolve(path))

export const textOf = (path: string): string => tryOr(() => readFileSync(path, 'utf8'), '')

function tryOr<T>(read: () => T, fallback: T): T {
  try {
    return read()
  } catch {
    // Not readable, or a part of the path is a file.
    return fallback
  }
}
