/** Whether a condition holds; `unknown` if that cannot be determined. */
export type Outcome = 'yes' | 'no' | 'unknown'

/** Outcome of a condition, with an explanation for people. */
export interface Evaluation {
  readonly outcome: Outcome
  readonly detail: string
}

/** `yes` or `no` if all outcomes are. A mixture is `unknown`: it satisfies a rule that denies, and not one that allows. */
export function allOf(outcomes: readonly Outcome[]): Outcome {
  const [first = 'unknown'] = outcomes
  return outcomes.every((each) => each === first) ? first : 'unknown'
}

export const opposite = (outcome: Outcome): Outcome => (outcome === 'unknown' ? outcome : outcome === 'yes' ? 'no' : 'yes')
