import { FileKindError, openRegularFile } from '@unfold-mcp/core/files'

/** A resolved reference. */
export type ResolvedSecret = { readonly value: string; readonly warning?: string } | { readonly problem: string }

export const maxSecretBytes = 65_536

/** Reads a secret from a regular file, without its last line break. */
export async function readSecretFile(path: string): Promise<ResolvedSecret> {
  try {
    const handle = await openRegularFile(path)
    try {
      const { size, mode } = await handle.stat()
      if (size > maxSecretBytes) return { problem: `${path} is larger than ${maxSecretBytes} bytes. Use a smaller file.` }
      const text = secretText(await handle.readFile())
      if (text === undefined) return { problem: `${path} is empty or not UTF-8 text.` }
      const isPrivate = process.platform === 'win32' || (mode & 0o077) === 0
      return { value: text, ...(!isPrivate && { warning: `${path} is readable by other users. Run: chmod 600 ${path}` }) }
    } finally {
      await handle.close()
    }
  } catch (error) {
    return { problem: problemOf(path, error) }
  }
}

/** Decodes a secret without its last line break; undefined if it is empty or not text. */
export function secretText(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8')
  const value = text.replace(/\r?\n$/u, '')
  return value === '' || value.includes('\0') || !Buffer.from(text).equals(bytes) ? undefined : value
}

function problemOf(path: string, error: unknown): string {
  if (error instanceof FileKindError) return `${path} is ${error.kind}. Use a regular file.`
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  if (code === 'ENOENT') return `${path} does not exist. Create it, or correct the path.`
  return code === 'EACCES' ? `${path} is not readable by this user.` : `${path} cannot be read (${code}).`
}
