/** Thrown when a limit of a walk over a schema is exceeded. */
export class Exhausted extends Error {
  override readonly name = 'Exhausted'
}

/** Limits of a walk over a schema. */
export interface MeterLimits {
  readonly steps: number
  /** Nesting of schemas. */
  readonly depth: number
}

/** Counts the steps of a walk over a schema. Schemas and values may be malicious. */
export class Meter {
  #steps: number
  readonly #depth: number

  constructor({ steps, depth }: MeterLimits) {
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
