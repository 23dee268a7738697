import type { Writable } from 'node:stream'
import type { ProgramLine, Supervisor } from '@unfold-mcp/client'
import { guardArgs } from './guard.ts'

/** When a process gets SIGTERM, and when SIGKILL, on the clock of `monotonicMs`. */
export interface EndTimes {
  readonly stopAt: number
  readonly killAt: number
}

/** Milliseconds of the monotonic clock, which is the same for all processes of a machine. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000_000n)

/**
 * Runs a server in a guard process that ends it at a given time. That holds while this process is suspended too, and between the
 * decision to start the server and its start.
 */
export class TimedSupervisor implements Supervisor {
  #times: EndTimes
  #pipe: Writable | undefined
  #isEnded = false

  constructor(times: EndTimes) {
    this.#times = times
  }

  commandLine({ command, args }: ProgramLine): ProgramLine {
    const { stopAt, killAt } = this.#times
    return { command: process.execPath, args: [...guardArgs, String(stopAt), String(killAt), command, ...args] }
  }

  attach(pipe: Writable): void {
    this.#pipe = pipe
    if (this.#isEnded) pipe.end()
    else this.postpone(this.#times)
  }

  /** Gives the server more time. */
  postpone(times: EndTimes): void {
    this.#times = times
    this.#pipe?.write(`${times.stopAt} ${times.killAt}\n`)
  }

  /** Ends the server now: SIGTERM, then SIGKILL. */
  end(): void {
    this.#isEnded = true
    this.#pipe?.end()
  }
}
