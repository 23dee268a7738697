import { constants } from 'node:fs'
import { copyFile, readdir, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { EditError } from './edit.ts'

const maxBackups = 10
const maxAttempts = 100

/** Copies a file to the next free `<file>.bak.<number>`, keeps the last ten, and returns the path of the copy. */
export async function createBackup(file: string): Promise<string> {
  const numbers = await backupsOf(file)
  const next = (numbers.at(-1) ?? 0) + 1
  for (let number = next; number < next + maxAttempts; number++) {
    const backup = pathOf(file, number)
    try {
      await copyFile(file, backup, constants.COPYFILE_EXCL)
    } catch (error) {
      // Created concurrently by another command.
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') continue
      throw error
    }
    const old = numbers.slice(0, Math.max(0, numbers.length + 1 - maxBackups))
    await Promise.all(old.map((each) => rm(pathOf(file, each), { force: true })))
    return backup
  }
  throw new EditError(`Cannot create a backup of ${file}. Remove old backups (${pathOf(file, next)} …).`)
}

const pathOf = (file: string, number: number): string => `${file}.bak.${number}`

/** Backup numbers, oldest first. */
async function backupsOf(file: string): Promise<readonly number[]> {
  const start = `${basename(file)}.bak.`
  return (await readdir(dirname(file)))
    .filter((name) => name.startsWith(start))
    .map((name) => name.slice(start.length))
    .filter((rest) => /^[1-9]\d{0,8}$/u.test(rest))
    .map(Number)
    .toSorted((a, b) => a - b)
}
