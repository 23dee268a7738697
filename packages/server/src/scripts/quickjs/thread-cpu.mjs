// @ts-check
// CPU time of a thread. Linux only: Node 20 measures the whole process.
import { readFileSync, readlinkSync } from 'node:fs'

/** Returns the file with the CPU time of the calling thread, or undefined if the system has none. */
export function threadCpuFile() {
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1)
    const file = `/proc/self/task/${thread}/schedstat`
    return cpuMsIn(file) === undefined ? undefined : file
  } catch {
    return undefined
  }
}

/**
 * Returns the CPU time of a thread in ms.
 * @param {string} file
 */
export function cpuMsIn(file) {
  try {
    const ms = Number(readFileSync(file, 'utf8').split(' ')[0]) / 1_000_000
    return Number.isFinite(ms) ? ms : undefined
  } catch {
    return undefined
  }
}
