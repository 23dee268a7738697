import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'

export interface LockOptions {
  /** Age after which a lock counts as left behind by a crash; must exceed any work done under it. */
  readonly staleMs: number
  /** How long to wait for the lock. */
  readonly timeoutMs: number
}

/** The lock could not be acquired in time. */
export class LockError extends Error {
  override readonly name = 'LockError'
}

const retryMs = 25

/** Runs `work` while holding a lock file shared between processes. A stale lock is taken over. */
export async function withLock<T>(file: string, { staleMs, timeoutMs }: LockOptions, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const deadline = Date.now() + timeoutMs
  const owner = `${process.pid} ${randomUUID()}`
  while (!(await acquire(file, owner))) {
    if (Date.now() > deadline) throw new LockError(`${file} is locked by another process. If none is running, delete it`)
    await removeStale(file, staleMs)
    // Random, so that processes that started together do not retry together.
    await after(retryMs * (0.5 + Math.random()))
  }
  try {
    return await work()
  } finally {
    // After more than `staleMs`, for example in a suspended process, the lock may belong to another process.
    if ((await ownerOf(file)) === owner) await rm(file, { force: true })
  }
}

async function acquire(file: string, owner: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600)
    try {
      await handle.writeFile(owner)
    } finally {
      await handle.close()
    }
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

const ownerOf = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined)

/**
 * Removes a lock that was left behind. Of several processes that find it, one may already have taken it over when another is about
 * to remove it, so it is moved away first, and returned if it turns out to be a new one.
 */
async function removeStale(file: string, staleMs: number): Promise<void> {
  if (!(await isStale(file, staleMs))) return
  const aside = `${file}.${randomUUID()}`
  try {
    await rename(file, aside)
    if (!(await isStale(aside, staleMs))) await link(aside, file)
  } catch {
    // Released or taken over meanwhile.
  }
  // Some programs use a folder as a lock.
  await rm(aside, { recursive: true, force: true })
}

async function isStale(file: string, staleMs: number): Promise<boolean> {
  try {
    return Math.abs(Date.now() - (await stat(file)).mtimeMs) > staleMs
  } catch {
    // Released meanwhile.
    return false
  }
}
