/** How much work the check of one value may be. Schemas come from servers, and one may be written to keep a client busy. */
export interface Budget {
  /** Schemas applied to values, and what is compared on the way. */
  readonly steps: number
  /** How deep schemas may lead into each other. */
  readonly depth: number
  /** How many problems are worth reading. */
  readonly problems: number
  /** How long all patterns together may run. */
  readonly patternMs: number
}

export const defaultBudget: Budget = { steps: 200_000, depth: 100, problems: 50, patternMs: 200 }

/** Thrown where a check stops before its end. What was found until then holds. */
export class Exhausted extends Error {
  override readonly name = 'Exhausted'
}

/** Counts the work of one check. */
export class Meter {
  #steps: number
  readonly #depth: number

  constructor({ steps, depth }: Budget) {
    this.#steps = steps
    this.#depth = depth
  }

  /** Takes `steps` from what is left. */
  spend(steps = 1): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new Exhausted('the schema asks for more checks than are made here')
  }

  /** Refuses to go deeper than allowed. */
  enter(depth: number): void {
    this.spend()
    if (depth > this.#depth) throw new Exhausted(`the schema leads more than ${this.#depth} levels deep`)
  }
}
