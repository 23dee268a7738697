import { mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'

export interface LockOptions {
  /** Longer than anything that is done under this lock: one that is older was left behind by a crash. */
  readonly staleMs: number
  /** How long to wait for others. */
  readonly patienceMs: number
}

const retryMs = 25

/** Does the work while no other process does work under the same lock. What a crashed one left behind is taken over. */
export async function withLock<T>(file: string, { staleMs, patienceMs }: LockOptions, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const end = Date.now() + patienceMs
  while (!(await isTaken(file, staleMs))) {
    if (Date.now() > end) throw new Error(`${file} is held by another process. If none is running, remove it`)
    await after(retryMs)
  }
  try {
    return await work()
  } finally {
    await rm(file, { force: true })
  }
}

async function isTaken(file: string, staleMs: number): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600)
    await handle.writeFile(String(process.pid))
    await handle.close()
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    if (await isStale(file, staleMs)) await rm(file, { force: true })
    return false
  }
}

async function isStale(file: string, staleMs: number): Promise<boolean> {
  try {
    return Math.abs(Date.now() - (await stat(file)).mtimeMs) > staleMs
  } catch {
    // It was given back meanwhile.
    return false
  }
}
