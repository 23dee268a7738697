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
