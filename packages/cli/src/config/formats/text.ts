import type { FileHandle } from 'node:fs/promises'
import { FileKindError, openRegularFile } from '@unfold-mcp/core/files'

const maxBytes = 5_000_000

/** Content or problem of a file; undefined if it does not exist. */
export type FileText = { readonly text: string } | { readonly problem: string } | undefined

/** Reads at most `maxBytes` of a text file. */
export async function readText(file: string): Promise<FileText> {
  let handle: FileHandle
  try {
    handle = await openRegularFile(file)
  } catch (error) {
    return unopened(error)
  }
  try {
    return await textIn(handle)
  } catch (error) {
    return { problem: `Cannot be read (${codeOf(error)}).` }
  } finally {
    await handle.close()
  }
}

async function textIn(handle: FileHandle): Promise<FileText> {
  const stats = await handle.stat()
  if (stats.size > maxBytes) return { problem: `Larger than ${maxBytes / 1_000_000} MB.` }
  const buffer = Buffer.alloc(Math.min(stats.size, maxBytes) + 1)
  let size = 0
  for (;;) {
    const { bytesRead } = await handle.read(buffer, size, buffer.length - size, size)
    size += bytesRead
    // A growing file is read up to its initial size.
    if (bytesRead === 0 || size === buffer.length) break
  }
  return decoded(buffer.subarray(0, size))
}

function decoded(bytes: Uint8Array): FileText {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    return { problem: 'UTF-16 is not supported. Save the file as UTF-8.' }
  try {
    // TextDecoder removes a byte order mark.
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { problem: 'Not valid UTF-8. Save the file as UTF-8.' }
  }
}

function unopened(error: unknown): FileText {
  if (error instanceof FileKindError) return { problem: `Not a regular file, but ${error.kind}.` }
  const code = codeOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
  if (code === 'ELOOP') return { problem: 'The symbolic link refers to itself.' }
  if (code === 'EACCES' || code === 'EPERM') return { problem: 'Permission denied.' }
  return { problem: `Cannot be read (${code}).` }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
