import { availableParallelism } from 'node:os'
import { type Connection, type ConnectOptions, connect, type Target } from '@unfold-mcp/client'
import type { Clock } from '../clock.ts'

// Twenty programs that start together are all ready at the same late moment.
const atOnce = Math.max(2, availableParallelism())
// While nobody waits for a program, there is something better to do for one processor: to serve clients.
const calmlyAtOnce = Math.max(1, availableParallelism() - 1)
const longestMs = 100

interface Start {
  readonly isAwaited: () => boolean
  readonly go: () => void
}

export interface StartsOptions {
  readonly clock: Clock
  /** Until this is done, only programs are started that somebody waits for. */
  readonly calm?: Promise<unknown> | undefined
}

/**
 * Starts programs a few at a time, so that the first can be served while others still start; those that somebody waits for come
 * first. One that is slow holds nobody up.
 */
export class Starts {
  readonly #clock: Clock
  readonly #line: Start[] = []
  #running = 0
  #isCalm: boolean

  constructor({ clock, calm }: StartsOptions) {
    this.#clock = clock
    this.#isCalm = calm === undefined
    const begin = (): void => {
      this.#isCalm = true
      this.review()
    }
    calm?.then(begin, begin)
  }

  /** Connects to a server: at once, or in its turn where a program has to be started for it. */
  async open(target: Target, options: ConnectOptions, isAwaited: () => boolean = () => true): Promise<Connection> {
    if (!('command' in target)) return connect(target, options)
    await this.#turn(isAwaited, options.signal)
    let hasLeft = false
    const leave = (): void => {
      if (hasLeft) return
      hasLeft = true
      this.#running--
      this.review()
    }
    const stopTimer = this.#clock.after(longestMs, leave)
    try {
      return await connect(target, options)
    } finally {
      stopTimer()
      leave()
    }
  }

  /** Starts whoever's turn it is now: somebody may wait for one that nobody waited for before. */
  review(): void {
    while (this.#running < atOnce) {
      const awaited = this.#line.findIndex(({ isAwaited }) => isAwaited())
      const mayStartAny = this.#isCalm && this.#running < calmlyAtOnce
      if (awaited === -1 && !mayStartAny) return
      const [next] = this.#line.splice(Math.max(0, awaited), 1)
      if (next === undefined) return
      this.#running++
      next.go()
    }
  }

  #turn(isAwaited: () => boolean, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason)
        return
      }
      const off = (): void => signal?.removeEventListener('abort', abort)
      const go = (): void => {
        off()
        resolve()
      }
      const start: Start = { isAwaited, go }
      const abort = (): void => {
        off()
        this.#line.splice(this.#line.indexOf(start), 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort)
      this.#line.push(start)
      this.review()
    })
  }
}
