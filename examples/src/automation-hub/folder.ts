import { mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { ToolError } from '@unfold-mcp/server'

/** A folder that no path escapes: neither `..`, nor an absolute path, nor a link. */
export interface Folder {
  /** Returns the real path of an existing file or folder. */
  existing(path: string): Promise<string>
  /** Returns the path of the directory entry itself, so that removing a link removes the link. Its folder must exist. */
  entry(path: string): Promise<string>
  /** Returns the path for a new entry and creates its parent folders. */
  newPath(path: string): Promise<string>
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
    if (wanted === home) throw new ToolError(`"${path}" is the folder itself. Name a file in it, such as "notes/today.txt".`)
    return join(checked(home, await realpath(dirname(wanted)).catch(failed(path)), path), basename(wanted))
  }
  const newPath = async (path: string): Promise<string> => {
    const { home, wanted } = await within(path)
    if (wanted !== home) {
      // A link in the path may lead out of the folder, where nothing may be created.
      checked(home, await nearestReal(dirname(wanted)), path)
      await mkdir(dirname(wanted), { recursive: true }).catch(failed(path))
    }
    return entry(path)
  }
  return { existing, entry, newPath }
}

/** Returns the real path of the existing part of `path`. */
async function nearestReal(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined)
  return real ?? nearestReal(dirname(path))
}

function checked(home: string, location: string, path: string): string {
  if (location === home || location.startsWith(home + sep)) return location
  throw new ToolError(`"${path}" is outside the hub's folder. Use a path inside it, such as "notes/today.txt".`)
}

/** Converts file system errors to messages that do not reveal paths of the machine. */
export function failed(path: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    // An error without a code is not a file system error.
    if (error.code === undefined) throw error
    throw new ToolError(explanations[error.code]?.(path) ?? `"${path}" cannot be used: ${error.code}.`, { cause: error })
  }
}

const explanations: { readonly [code: string]: (path: string) => string } = {
  ENOENT: (path) => `"${path}" does not exist. Call list_files to see the existing files.`,
  EISDIR: (path) => `"${path}" is a folder. Name a file in it; list_files shows them.`,
  ENOTDIR: (path) => `"${path}" contains a component that is not a folder. Call list_files to see the existing files.`,
  EEXIST: (path) => `"${path}" already exists. Choose another name, or pass overwrite: true.`,
  ENOTEMPTY: (path) => `The folder "${path}" is not empty. Delete its contents first.`,
  EACCES: (path) => `The server has no permission for "${path}". Choose another file, or ask the operator of the server.`,
  ENAMETOOLONG: () => 'That path is too long. Choose a shorter one.',
  ELOOP: (path) => `"${path}" is a link to itself. Delete it, or choose another file.`,
}
