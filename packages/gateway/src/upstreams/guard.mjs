// @ts-check
// Outlives the gateway by a moment: when the gateway is gone, however it went, this ends the processes it had started. The gateway
// holds the other end of standard input and writes `+number` for a process that began and `-number` for one that ended.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const graceMs = 300
const isWindows = process.platform === 'win32'
/** @type {Map<number, string>} */
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

/** @param {'SIGTERM' | 'SIGKILL'} signal */
function end(signal) {
  for (const [pid, begun] of running) {
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
    if (line.startsWith('+')) running.set(pid, begunAt(pid))
    else running.delete(pid)
  })
  .on('close', () => {
    if (running.size === 0) process.exit(0)
    end('SIGTERM')
    setTimeout(() => {
      end('SIGKILL')
      process.exit(0)
    }, graceMs)
  })
