import { availableParallelism } from 'node:os'
import { type Connection, type ConnectOptions, connect, type Target } from '@unfold-mcp/client'
import type { Clock } from '../clock.ts'
import { Turns } from './turns.ts'

// Twenty programs that start together are all ready at the same late moment.
const atOnce = Math.max(2, availableParallelism())
const longestMs = 100

/** Starts programs a few at a time, so that the first can be served while others still start. One that is slow holds nobody up. */
export class Starts {
  readonly #turns = new Turns(() => ({ concurrency: atOnce, queue: Number.POSITIVE_INFINITY }))
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Connects to a server: at once, or in its turn where a program has to be started for it. */
  readonly open = async (target: Target, options: ConnectOptions): Promise<Connection> => {
    if (!('command' in target)) return connect(target, options)
    const leave = await this.#turns.enter(options.signal)
    const stopTimer = this.#clock.after(longestMs, () => leave?.())
    try {
      return await connect(target, options)
    } finally {
      stopTimer()
      leave?.()
    }
  }
}
