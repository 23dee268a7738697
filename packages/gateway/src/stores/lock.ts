import { open, rm, stat } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

// Longer than anything that is done under a lock here.
const staleMs = 5_000
const retryMs = 25

/** Does the work while no other process does work under the same lock. What a crashed one left behind is taken over. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  for (let tries = (3 * staleMs) / retryMs; !(await isTaken(file)); tries--) {
    if (tries <= 0) throw new Error(`${file} is held by another process. If none is running, remove it`)
    await wait(retryMs)
  }
  try {
    return await work()
  } finally {
    await rm(file, { force: true })
  }
}

async function isTaken(file: string): Promise<boolean> {
  try {
    await (await open(file, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    if (await isStale(file)) await rm(file, { force: true })
    return false
  }
}

async function isStale(file: string): Promise<boolean> {
  return stat(file).then(
    ({ mtimeMs }) => Math.abs(Date.now() - mtimeMs) > staleMs,
    // It was given back meanwhile.
    () => false,
  )
}
