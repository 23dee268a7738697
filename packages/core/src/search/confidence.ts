/** Whether the first matches are likely to be what was asked for, may be, or are not. */
export type Confidence = 'strong' | 'weak' | 'none'

/** What speaks for the best match of a clause. */
export interface Evidence {
  /** How much the clause asks for. */
  readonly weight: number
  /** How much of that the match has. */
  readonly coverage: number
  /** How much of its name the clause says. */
  readonly nameShare: number
  /** How much was found at all: 1 is worth a word that no other tool has, in the best place. */
  readonly amount: number
}

/** Where the bars stand, from queries whose tool was there and the same queries after its server was taken away. */
const strong = 0.5
const weak = 0.25
/** Many good tools have names that nobody would say, so the name alone cannot deny. */
const minNameShare = 0.2

/** How likely it is that a query whose clauses have this evidence found what it asked for. */
export function confidenceOf(clauses: readonly Evidence[]): Confidence {
  const whole = clauses.reduce((sum, { weight }) => sum + weight, 0)
  if (whole === 0) return 'none'
  const belief = clauses.reduce((sum, clause) => sum + clause.weight * beliefIn(clause), 0) / whole
  if (belief >= strong) return 'strong'
  return belief >= weak ? 'weak' : 'none'
}

function beliefIn({ coverage, nameShare, amount }: Evidence): number {
  const belief = Math.cbrt(coverage * Math.min(1, minNameShare + nameShare) * Math.min(1, amount))
  // Among a few tools of one kind, words that all of them have say little; a tool that has every word asked for is still an answer.
  return coverage === 1 ? Math.max(weak, belief) : belief
}
