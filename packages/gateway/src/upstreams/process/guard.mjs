// @ts-check
// Guard process: when the gateway is gone, for whatever reason, it ends the processes that the gateway started. The gateway writes
// `+pid` for a process that started, `*pid` for one that may be installing, and `-pid` for one that ended.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const graceMs = 300
// An interrupted installation would leave the launcher's cache broken.
const installGraceMs = 60_000
const pollMs = 100
const isWindows = process.platform === 'win32'
/** @type {Map<number, { startTime: string, isInstalling: boolean }>} */
const running = new Map()

/**
 * Start time of a process, to detect a reused pid; empty if unknown.
 * @param {number} pid
 */
function startTimeOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * @param {'SIGTERM' | 'SIGKILL'} signal
 * @param {boolean} isForAll also for those that may be installing
 */
function end(signal, isForAll) {
  for (const [pid, { startTime, isInstalling }] of running) {
    if (isInstalling && !isForAll) continue
    const now = startTimeOf(pid)
    if (now !== '' && startTime !== '' && now !== startTime) continue
    try {
      if (isWindows) spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { windowsHide: true })
      else process.kill(-pid, signal)
    } catch {
      running.delete(pid)
    }
  }
}

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, () => undefined)

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const pid = Number(line.slice(1))
    // 0 and 1 would signal other process groups.
    if (!Number.isSafeInteger(pid) || pid <= 1) return
    if (line.startsWith('-')) running.delete(pid)
    else running.set(pid, { startTime: startTimeOf(pid), isInstalling: line.startsWith('*') })
  })
  .on('close', () => {
    if (running.size === 0) process.exit(0)
    end('SIGTERM', true)
    setTimeout(() => {
      end('SIGKILL', false)
      for (const [pid, { isInstalling }] of running) if (!isInstalling) running.delete(pid)
      if (running.size === 0) process.exit(0)
      setTimeout(() => {
        end('SIGKILL', true)
        process.exit(0)
      }, installGraceMs)
      setInterval(forgetEnded, pollMs)
    }, graceMs)
  })

/** Ends the remaining children of processes that have ended, and exits after the last one. */
function forgetEnded() {
  for (const pid of running.keys()) {
    if (startTimeOf(pid) === running.get(pid)?.startTime && isRunning(pid)) continue
    if (!isWindows && isRunning(-pid)) process.kill(-pid, 'SIGKILL')
    running.delete(pid)
  }
  if (running.size === 0) process.exit(0)
}
