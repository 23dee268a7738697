import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'

/** A path leads to something other than a regular file. */
export class FileKindError extends Error {
  override readonly name = 'FileKindError'
  readonly code = 'EFILEKIND'
  readonly path: string
  /** What it is, such as `a named pipe`. */
  readonly kind: string

  constructor(path: string, kind: string) {
    super(`${path} is ${kind}, not a regular file`)
    this.path = path
    this.kind = kind
  }
}

export interface OpenOptions {
  /** Fail if the last part of the path is a symbolic link; default: follow it. */
  readonly isLinkRejected?: boolean
}

/**
 * Opens a regular file for reading. Opening a named pipe would block a thread of the process until a program writes to it, and
 * opening a device may have effects, so anything else is rejected with `FileKindError`.
 */
export async function openRegularFile(path: string, { isLinkRejected = false }: OpenOptions = {}): Promise<FileHandle> {
  requireRegular(path, await stat(path))
  const handle = await open(path, openFlags(isLinkRejected))
  try {
    // The path may have been replaced after `stat`.
    requireRegular(path, await handle.stat())
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Reads a regular file, following symbolic links. Throws `FileKindError` for anything else. */
export async function readRegularFile(path: string): Promise<Buffer> {
  const handle = await openRegularFile(path)
  try {
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** Synchronous `openRegularFile`. */
export function openRegularFileSync(path: string): number {
  requireRegular(path, statSync(path))
  const file = openSync(path, openFlags(false))
  try {
    requireRegular(path, fstatSync(file))
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** Synchronous `readRegularFile`. */
export function readRegularFileSync(path: string): Buffer {
  const file = openRegularFileSync(path)
  try {
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

// Windows has neither flag.
const openFlags = (isLinkRejected: boolean): number =>
  constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (isLinkRejected ? (constants.O_NOFOLLOW ?? 0) : 0)

function requireRegular(path: string, stats: Stats): void {
  if (!stats.isFile()) throw new FileKindError(path, kindOf(stats))
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a named pipe'
  if (stats.isSocket()) return 'a socket'
  return 'a device'
}
