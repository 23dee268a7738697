/** Runs a limited number of calls at the same time, in their order. */
export class CallSlots {
  readonly #limit: number
  /** Called whenever a call has ended. */
  readonly #ended: () => void
  readonly #queue: (() => Promise<void>)[] = []
  #active = 0

  constructor(limit: number, ended: () => void) {
    this.#limit = limit
    this.#ended = ended
  }

  /** Number of calls that run or wait for a slot. */
  get running(): number {
    return this.#active + this.#queue.length
  }

  /** Runs `work`, which must not reject, when there is a slot. */
  run(work: () => Promise<void>): void {
    this.#queue.push(work)
    this.#next()
  }

  #next(): void {
    if (this.#active >= this.#limit) return
    const work = this.#queue.shift()
    if (work === undefined) return
    this.#active++
    void work().finally(() => {
      this.#active--
      this.#next()
      this.#ended()
    })
  }
}
