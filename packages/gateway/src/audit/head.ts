import { constants, open, readFile } from 'node:fs/promises'
import type { ChainPosition } from './record.ts'

/** Path of the head file, which contains the last position of the chain whose current file is `path`. */
const headPath = (path: string): string => `${path}.head`

/**
 * Writes the head file in place. Its size never changes and it needs no temporary file, so a full disk does not stop it and a
 * killed process does not leave it half written.
 */
export async function writeHead(path: string, { seq, hash }: ChainPosition): Promise<void> {
  await using handle = await open(headPath(path), constants.O_WRONLY | constants.O_CREAT, 0o600)
  await handle.write(`${String(seq).padStart(16, '0')} ${hash}\n`, 0)
}

/** Returns the position in the head file; `undefined` if the file is missing or damaged. */
export async function readHead(path: string): Promise<ChainPosition | undefined> {
  const text = await readFile(headPath(path), 'utf8').catch(() => '')
  const [, seq = '', hash = ''] = /^(\d{16}) ([0-9a-f]{64})\n$/u.exec(text) ?? []
  return hash === '' ? undefined : { seq: Number(seq), hash }
}
