import { mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { ToolError } from '@unfold-mcp/server'

/** A folder that no path leads out of: neither `..`, nor an absolute path, nor a link. */
export interface Folder {
  /** Where this file or folder really is; it must exist. */
  existing(path: string): Promise<string>
  /** Where the directory entry itself is, so that removing a link removes the link. Its folder must exist. */
  entry(path: string): Promise<string>
  /** Where a new entry can be put; the folders above it are made. */
  place(path: string): Promise<string>
}

export function folderAt(root: string): Folder {
  const within = async (path: string): Promise<{ home: string; wanted: string }> => {
    await mkdir(root, { recursive: true })
    const home = await realpath(root)
    return { home, wanted: checked(home, resolve(home, path), path) }
  }
  const existing = async (path: string): Promise<string> => {
    const { home, wanted } = await within(path)
    return checked(home, await realpath(wanted).catch(failed(path)), path)
  }
  const entry = async (path: string): Promise<string> => {
    const { home, wanted } = await within(path)
    if (wanted === home) throw new ToolError(`"${path}" is the whole folder. Name a file in it, such as "notes/today.txt".`)
    return join(checked(home, await realpath(dirname(wanted)).catch(failed(path)), path), basename(wanted))
  }
  const place = async (path: string): Promise<string> => {
    const { home, wanted } = await within(path)
    if (wanted !== home) {
      // A link on the way may lead out of the folder, where nothing must be made.
      checked(home, await nearestReal(dirname(wanted)), path)
      await mkdir(dirname(wanted), { recursive: true }).catch(failed(path))
    }
    return entry(path)
  }
  return { existing, entry, place }
}

/** The real path of what exists of `path`. */
async function nearestReal(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined)
  return real ?? nearestReal(dirname(path))
}

function checked(home: string, place: string, path: string): string {
  if (place === home || place.startsWith(home + sep)) return place
  throw new ToolError(`"${path}" leads out of the hub's folder. Give a path inside it, such as "notes/today.txt".`)
}

/** Says what went wrong with `path` without telling where on this machine it lies. */
export function failed(path: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    // Without a code it is not about the file, and says itself what it is about.
    if (error.code === undefined) throw error
    throw new ToolError(explanations[error.code]?.(path) ?? `"${path}" could not be used: ${error.code}.`, { cause: error })
  }
}

const explanations: { readonly [code: string]: (path: string) => string } = {
  ENOENT: (path) => `There is no "${path}". Call list_files to see what there is.`,
  EISDIR: (path) => `"${path}" is a folder. Name a file in it; list_files shows them.`,
  ENOTDIR: (path) => `"${path}" goes through something that is not a folder. Call list_files to see what there is.`,
  EEXIST: (path) => `"${path}" exists already. Choose another name, or say overwrite: true.`,
  ENOTEMPTY: (path) => `The folder "${path}" is not empty. Delete what is in it first.`,
  EACCES: (path) => `The server may not touch "${path}". Choose another file, or ask whoever runs the server.`,
  ENAMETOOLONG: () => 'That path is too long. Choose a shorter one.',
  ELOOP: (path) => `"${path}" is a link that leads to itself. Delete it, or choose another file.`,
}
