import { mkdir } from 'node:fs/promises'
import { replaceFile } from '@unfold-mcp/core/files'

/** Writes JSON atomically to a file that only its owner can read; creates the folder. */
export async function writePrivate(folder: string, file: string, value: unknown): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await replaceFile(file, `${JSON.stringify(value, null, 2)}\n`)
}
