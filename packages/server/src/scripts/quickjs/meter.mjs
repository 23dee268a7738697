// @ts-check
import { cpuMsIn, threadCpuFile } from './thread-cpu.mjs'

const file = threadCpuFile()

// Reading the CPU time of a thread takes up to 0.1 ms, so shorter runs count with an upper bound.
const unmeasuredMs = 5

/** Measures the CPU time of the runs of one script, and tells when a limit is reached. */
export class Meter {
  #usedMs
  #limitMs
  #startedAt = 0
  #deadline = Number.POSITIVE_INFINITY
  #checkAt = 0
  #processAtStart = process.cpuUsage()
  /** @type {number | undefined} */
  #cpuAtStart
  #isRunning = false

  /**
   * @param {number} usedMs
   * @param {number} limitMs
   */
  constructor(usedMs, limitMs) {
    this.#usedMs = usedMs
    this.#limitMs = limitMs
  }

  get usedMs() {
    return this.#usedMs + (this.#isRunning ? this.#runMs(performance.now()) : 0)
  }

  /** @param {number} wallMs time until the run must end */
  start(wallMs) {
    this.#startedAt = performance.now()
    this.#deadline = this.#startedAt + wallMs
    this.#checkAt = this.#startedAt + Math.min(unmeasuredMs, this.#limitMs - this.#usedMs)
    this.#processAtStart = process.cpuUsage()
    this.#cpuAtStart = undefined
    this.#isRunning = true
  }

  end() {
    this.#usedMs = this.usedMs
    this.#isRunning = false
  }

  /** Returns the limit that the run has reached. */
  reached() {
    const now = performance.now()
    if (now >= this.#deadline) return 'wall'
    if (now < this.#checkAt) return undefined
    const left = this.#limitMs - this.#usedMs - this.#runMs(now)
    if (left <= 0) return 'cpu'
    // The CPU time cannot reach the limit earlier.
    this.#checkAt = now + Math.max(left, 1)
    return undefined
  }

  /** @param {number} now */
  #runMs(now) {
    const elapsed = now - this.#startedAt
    if (this.#cpuAtStart === undefined) {
      const { user, system } = process.cpuUsage(this.#processAtStart)
      const bound = Math.min(elapsed, (user + system) / 1_000)
      const cpu = elapsed < unmeasuredMs || file === undefined ? undefined : cpuMsIn(file)
      if (cpu !== undefined) this.#cpuAtStart = cpu - bound
      return file === undefined ? elapsed : bound
    }
    const cpu = file === undefined ? undefined : cpuMsIn(file)
    return cpu === undefined ? elapsed : Math.min(elapsed, cpu - this.#cpuAtStart)
  }
}
