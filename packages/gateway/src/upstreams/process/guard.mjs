// @ts-check
// Outlives the gateway by a moment: when the gateway is gone, however it went, this ends the processes it had started. The gateway
// holds the other end of standard input and writes `+number` for a process that began, `*number` for one that may be installing
// what it is to run, and `-number` for one that ended.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const graceMs = 300
// An installation that is killed halfway leaves the cache of its launcher broken for every program.
const installGraceMs = 60_000
const lookMs = 100
const isWindows = process.platform === 'win32'
/** @type {Map<number, { begun: string, isInstalling: boolean }>} */
const running = new Map()

/**
 * When a process began, where that can be told: a number may be given to another process later.
 * @param {number} pid
 */
function begunAt(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

/** @param {number} pid */
function isThere(pid) {
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
  for (const [pid, { begun, isInstalling }] of running) {
    if (isInstalling && !isForAll) continue
    const now = begunAt(pid)
    if (now !== '' && begun !== '' && now !== begun) continue
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
    // Never 0 or 1: they would stand for a whole group of others.
    if (!Number.isSafeInteger(pid) || pid <= 1) return
    if (line.startsWith('-')) running.delete(pid)
    else running.set(pid, { begun: begunAt(pid), isInstalling: line.startsWith('*') })
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
      setInterval(forgetEnded, lookMs)
    }, graceMs)
  })

/** Ends what those left behind that have ended, and this process with the last of them. */
function forgetEnded() {
  for (const pid of running.keys()) {
    if (begunAt(pid) === running.get(pid)?.begun && isThere(pid)) continue
    if (!isWindows && isThere(-pid)) process.kill(-pid, 'SIGKILL')
    running.delete(pid)
  }
  if (running.size === 0) process.exit(0)
}
