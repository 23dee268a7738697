import { mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'

export interface LockOptions {
  /** Age after which a lock counts as left behind by a crash; must exceed any work done under it. */
  readonly staleMs: number
  /** How long to wait for the lock. */
  readonly timeoutMs: number
}

const retryMs = 25

/** Runs `work` while holding a lock file shared between processes. A stale lock is taken over. */
export async function withLock<T>(file: string, { staleMs, timeoutMs }: LockOptions, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const deadline = Date.now() + timeoutMs
  while (!(await acquire(file, staleMs))) {
    if (Date.now() > deadline) throw new Error(`${file} is locked by another process. If none is running, delete it`)
    await after(retryMs)
  }
  try {
    return await work()
  } finally {
    await rm(file, { force: true })
  }
}

async function acquire(file: string, staleMs: number): Promise<boolean> {
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
    // Released meanwhile.
    return false
  }
}
