/** Limits for the validation of one value. Schemas come from servers, which may be malicious. */
export interface Budget {
  /** Schema evaluations and comparisons. */
  readonly steps: number
  /** Nesting of schemas. */
  readonly depth: number
  /** Problems reported. */
  readonly problems: number
  /** Total run time of all patterns. */
  readonly patternMs: number
}

export const defaultBudget: Budget = { steps: 200_000, depth: 100, problems: 50, patternMs: 200 }

/** Thrown when the budget is used up. The problems found so far are valid. */
export class Exhausted extends Error {
  override readonly name = 'Exhausted'
}

export class Meter {
  #steps: number
  readonly #depth: number

  constructor({ steps, depth }: Budget) {
    this.#steps = steps
    this.#depth = depth
  }

  spend(steps = 1): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new Exhausted('the schema requires too many checks')
  }

  enter(depth: number): void {
    this.spend()
    if (depth > this.#depth) throw new Exhausted(`the schema is nested more than ${this.#depth} levels deep`)
  }
}
