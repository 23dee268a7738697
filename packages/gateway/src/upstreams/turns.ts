/** How many may be at work at once, and how many more may wait. */
export interface TurnLimits {
  readonly concurrency: number
  readonly queue: number
}

/** Lets only so many in at once; the others wait in line, and when the line is full nobody more may join. */
export class Turns {
  readonly #limits: () => TurnLimits
  readonly #line: (() => void)[] = []
  #running = 0

  constructor(limits: () => TurnLimits) {
    this.#limits = limits
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#line.length
  }

  /** Resolves when it is one's turn, with what ends it; at once with `undefined` when the line is full. Rejects when called off. */
  async enter(signal?: AbortSignal): Promise<(() => void) | undefined> {
    signal?.throwIfAborted()
    const { concurrency, queue } = this.#limits()
    if (this.#running < concurrency) this.#running++
    else if (this.#line.length >= queue) return undefined
    else await this.#turn(signal)
    return this.#ending()
  }

  /** The same for one whose turn it is at once; `undefined` for others, and they are not in the line. */
  enterNow(signal?: AbortSignal): (() => void) | undefined {
    if (signal?.aborted === true || this.#running >= this.#limits().concurrency) return undefined
    this.#running++
    return this.#ending()
  }

  #ending(): () => void {
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#leave()
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const off = (): void => signal?.removeEventListener('abort', abort)
      const go = (): void => {
        off()
        resolve()
      }
      const abort = (): void => {
        off()
        this.#line.splice(this.#line.indexOf(go), 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort)
      this.#line.push(go)
    })
  }

  #leave(): void {
    this.#running--
    const { concurrency } = this.#limits()
    // More than one when more are allowed than before.
    while (this.#running < concurrency) {
      const next = this.#line.shift()
      if (next === undefined) return
      this.#running++
      next()
    }
  }
}
