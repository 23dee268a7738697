// One set-up at a time: two stdio clients may start the same fresh clone at once.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Runs `work` while no other live process holds the lock at `path`; waits for its turn. */
export async function withLock(path, work) {
  mkdirSync(dirname(path), { recursive: true })
  let told = false
  while (!acquire(path)) {
    if (isStale(path)) discard(path)
    else if (!told) {
      console.error('Another process is setting up this folder; waiting for it …')
      told = true
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
  // The holder writes its pid right after it made the folder; one that never did has died in between.
  const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs
  return made !== undefined && Date.now() - made > 5_000
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

/** Takes a dead process's lock away. Of several that try, the rename lets one succeed. */
function discard(path) {
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
  } catch {
    return
  }
  // Between the look and the rename another process may have taken the lock afresh; it gets it back.
  if (isStale(aside)) rmSync(aside, { recursive: true, force: true })
  else renameSync(aside, path)
}
