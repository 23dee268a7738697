// File lock for set-up: two stdio clients may start the same fresh clone at the same time.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for the lock at `path`, then runs `work`. Locks of dead processes are removed. */
export async function withLock(path, work) {
  mkdirSync(dirname(path), { recursive: true })
  let isReported = false
  while (!acquire(path)) {
    if (isStale(path)) discard(path)
    else if (!isReported) {
      console.error('Another process is setting up this folder. Waiting …')
      isReported = true
    }
    await sleep(200)
  }
  try {
    return await work()
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}

function acquire(path) {
  try {
    mkdirSync(path)
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
  writeFileSync(join(path, 'pid'), String(process.pid))
  return true
}

function isStale(path) {
  const pid = holder(path)
  if (pid !== undefined) return !isAlive(pid)
  // The holder writes its pid right after it creates the folder; if the pid is still missing, the holder died in between.
  const createdMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  return createdMs !== undefined && Date.now() - createdMs > 5_000
}

function holder(path) {
  try {
    return Number(readFileSync(join(path, 'pid'), 'utf8')) || undefined
  } catch {
    return undefined
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Removes the lock of a dead process. If several processes try, the rename succeeds for only one. */
function discard(path) {
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
  } catch {
    return
  }
  // Another process may have acquired the lock between the check and the rename; it gets the lock back.
  if (isStale(aside)) rmSync(aside, { recursive: true, force: true })
  else renameSync(aside, path)
}
