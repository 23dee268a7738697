// @ts-check
// Guard process: when the gateway is gone, for whatever reason, it ends the processes that the gateway started. The gateway writes
// `+pid id` for a process that started, `*pid id` for one that may be installing, and `-pid id` for one that ended. The id, if any, is
// in the environment of all descendants of the process.
//
// With arguments it runs a single server that must end at a certain time even if the gateway is suspended: `stopAt killAt command …`.
// Each line on descriptor 3 postpones these times. They are milliseconds of the monotonic clock, which all processes share.
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'

const graceMs = 300
// An interrupted installation would leave the launcher's cache broken.
const installGraceMs = 60_000
const pollMs = 100
// A single server gets this time after SIGTERM, if it has any left.
const stopGraceMs = 2_000
// Exit codes of a single server that was not started: as in sysexits.h, and as of a shell.
const expiredCode = 75
const notStartedCode = 127
const isWindows = process.platform === 'win32'
/** @type {Map<number, { startTime: string, isInstalling: boolean, id: string }>} */
const running = new Map()
/** Ids in the environment of descendants, and whether these may be installing. @type {Map<string, boolean>} */
const ids = new Map()

/**
 * Fields of a process from its state on, as in proc(5); none if unknown.
 * @param {number} pid
 * @returns {readonly string[]}
 */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

/**
 * Start time of a process, to detect a reused pid; empty if unknown.
 * @param {number} pid
 */
const startTimeOf = (pid) => statOf(pid)[19] ?? ''

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
  signalStrays(signal, isForAll)
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

/**
 * Signals descendants that left their process group. Linux only: elsewhere the environment of a process cannot be read.
 * @param {'SIGTERM' | 'SIGKILL'} signal
 * @param {boolean} isForAll also for those that may be installing
 */
function signalStrays(signal, isForAll) {
  const wanted = [...ids].filter(([, isInstalling]) => isForAll || !isInstalling).map(([id]) => id)
  if (process.platform !== 'linux' || wanted.length === 0) return
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const pid = Number(name)
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
      // Members of a group get its signal; npm aborts its cleanup on a second one.
      const isWanted = pid !== process.pid && wanted.some((id) => environment.includes(id))
      if (isWanted && !running.has(Number(statOf(pid)[2]))) process.kill(pid, signal)
    } catch {
      // It has ended, or belongs to another user.
    }
  }
}

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, () => undefined)

const [, , stopAt = '', killAt = '', command, ...args] = process.argv
if (command === undefined) guardGateway()
else runServer({ stopAt: Number(stopAt), killAt: Number(killAt) }, command, args)

function guardGateway() {
  createInterface({ input: process.stdin })
    .on('line', (line) => {
      const [number = '', id = ''] = line.slice(1).split(' ')
      const pid = Number(number)
      // 0 and 1 would signal other process groups.
      if (!Number.isSafeInteger(pid) || pid <= 1) return
      const isInstalling = line.startsWith('*')
      if (line.startsWith('-')) {
        running.delete(pid)
        ids.delete(id)
        return
      }
      running.set(pid, { startTime: startTimeOf(pid), isInstalling, id })
      if (id !== '') ids.set(id, isInstalling)
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
}

/** Ends the remaining children of processes that have ended, and exits after the last one. */
function forgetEnded() {
  for (const [pid, { startTime, id }] of running) {
    if (startTimeOf(pid) === startTime && isRunning(pid)) continue
    if (!isWindows && isRunning(-pid)) process.kill(-pid, 'SIGKILL')
    running.delete(pid)
    if (id === '') continue
    ids.set(id, false)
    signalStrays('SIGKILL', false)
    ids.delete(id)
  }
  if (running.size === 0) process.exit(0)
}

/**
 * Runs a server in the process group of this process.
 * @param {{ stopAt: number, killAt: number }} times
 * @param {string} program
 * @param {readonly string[]} programArgs
 */
function runServer(times, program, programArgs) {
  const now = () => Number(process.hrtime.bigint() / 1_000_000n)
  // The gateway may have been suspended right before it started this process.
  if (!(now() < times.stopAt)) process.exit(expiredCode)
  let { stopAt: stopsAt, killAt: killsAt } = times
  let isStopping = false
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const id = (process.env.UNFOLD_PROCESS_IDS ?? '').split(',').at(-1) ?? ''
  if (id !== '') ids.set(id, false)

  const killAll = () => {
    signalStrays('SIGKILL', true)
    if (isWindows) spawnSync('taskkill', ['/pid', String(process.pid), '/t', '/f'], { windowsHide: true })
    else process.kill(-process.pid, 'SIGKILL')
  }
  const stop = () => {
    if (isStopping) return
    isStopping = true
    killsAt = Math.min(killsAt, now() + stopGraceMs)
    if (!isWindows) process.kill(-process.pid, 'SIGTERM')
    schedule()
  }
  const schedule = () => {
    clearTimeout(timer)
    timer = setTimeout(isStopping ? killAll : stop, Math.max(0, (isStopping ? killsAt : stopsAt) - now()))
  }

  spawn(program, programArgs, { stdio: 'inherit', windowsHide: true })
    .on('error', (error) => {
      process.stderr.write(`Error: ${error.message}\n`)
      process.exit(notStartedCode)
    })
    .on('exit', (code, signal) => {
      // Its descendants must not outlive the time that it had.
      signalStrays('SIGKILL', true)
      if (signal === null) process.exit(code ?? 1)
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
    })
  schedule()
  const control = new Socket({ fd: 3 }).on('error', stop)
  createInterface({ input: control })
    .on('line', (line) => {
      const [stopTime = Number.NaN, killTime = Number.NaN] = line.split(' ').map(Number)
      // Once it was asked to stop, it cannot continue.
      if (isStopping || !(stopTime > stopsAt && killTime > stopTime)) return
      stopsAt = stopTime
      killsAt = killTime
      schedule()
    })
    // The gateway has ended, or its lease has.
    .on('close', stop)
}
