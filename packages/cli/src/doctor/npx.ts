import { lstat, realpath, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { CommandError, exit } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import type { Flags } from '../grammar/grammar.ts'
import { requireConfirmation } from '../interactive/require-confirmation.ts'
import { safeText } from '../text/safe.ts'

/** Deletes npx cache folders, after confirmation. */
export async function deleteNpxFolders(folders: readonly string[], flags: Flags, io: Io): Promise<void> {
  for (const folder of folders) await requireNpxFolder(folder)
  const question = `Delete ${folders.map((folder) => safeText(folder, { limit: 1_000 })).join(' and ')}? npx reinstalls them on the next start.`
  await requireConfirmation(question, { flags, io, otherwise: 'Nothing deleted.' })
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
}

/** The path comes from the output of a server, so it must be verified. */
async function requireNpxFolder(folder: string): Promise<void> {
  const isCacheFolder = (path: string): boolean => basename(dirname(path)) === '_npx' && /^[0-9a-f]{6,64}$/u.test(basename(path))
  const stats = await lstat(folder).catch(() => undefined)
  // Symbolic links could point elsewhere.
  if (isCacheFolder(folder) && stats?.isDirectory() === true && isCacheFolder(await realpath(folder))) return
  const message = `${folder} is not an npx cache folder; nothing deleted.`
  throw new CommandError(exit.blocked, 'not_deleted', message)
}
