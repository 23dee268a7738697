/** Confidence that the first matches answer the query. */
export type Confidence = 'strong' | 'weak' | 'none'

/** Evidence for the matches of a clause. */
export interface ClauseEvidence {
  /** Weight of the clause. */
  readonly weight: number
  /** The best match. */
  readonly best: Evidence
  /** The best match of each other source, if it is comparable. */
  readonly others?: readonly Evidence[]
}

/** Evidence for the first matches from the whole query. */
export interface FirstEvidence extends ClauseEvidence {
  /** Number of words of the query that any tool has. */
  readonly words: number
  /** A short query whose rarest word does not occur in the first match. */
  readonly lacksRarest: boolean
  /** The same for the rarest word that any tool has: others are mostly values. */
  readonly lacksKnown: boolean
}

/** Evidence for a match. */
export interface Evidence {
  /** Share of the clause that the match covers. */
  readonly coverage: number
  /** Share without the words that no tool has: they are mostly values. */
  readonly knownCoverage: number
  /** Share of the tool name that the clause covers. */
  readonly nameShare: number
  /** Total match weight; 1 is one unique word in the best field. */
  readonly amount: number
  /** A word other than a general verb matches the tool itself, not only its server. */
  readonly isSpecific: boolean
}

/** Thresholds, tuned on queries with and without their tool in the catalog. */
const strong = 0.77
const weak = 0.42
/** The same for belief in words alone. */
const strongBelief = 0.5
const weakBelief = 0.25
const beliefScale = (strong - weak) / (strongBelief - weakBelief)
const cosineShare = 0.5
const rarestPenalty = 0.15
/** If the first match does not have the words of the query, the matches are never certain. */
const maxInAny = 0.7
/** A request of so few words says nothing that does not matter … */
const fewWords = 4
/** … so a match must have most of it. */
const minCoverage = 0.65
/** Many good tools have unusual names, so the name alone must not veto. */
const minNameShare = 0.2
/**
 * Belief in a match that another source outranks. A server could otherwise hide the tools of others: with a tool that ranks first but
 * is not convincing. Below 1, because the most convincing of several matches is more often convincing by chance.
 */
const outrankedShare = 0.85

/** What is known about the first matches from words and meaning together. */
export interface MeaningSupport {
  /** The highest cosine among the first matches. */
  readonly cosine: number
  /** Cosine of the first match. */
  readonly firstCosine: number
}

/** Belief in the matches of all clauses, from 0 to 1. */
function beliefOf(clauses: readonly ClauseEvidence[]): number {
  const whole = clauses.reduce((sum, { weight }) => sum + weight, 0)
  return whole === 0 ? 0 : clauses.reduce((sum, clause) => sum + clause.weight * beliefInClause(clause), 0) / whole
}

/**
 * True if the first match may do something else than the query asks for, however well some of its words match. A match of another source
 * counts as well, because a server could otherwise hide it.
 */
function isDoubtful({ best, others = [], words, lacksKnown }: FirstEvidence): boolean {
  const isPartial = ({ knownCoverage, isSpecific }: Evidence): boolean =>
    !isSpecific || (words <= fewWords && knownCoverage < minCoverage)
  return lacksKnown || [best, ...others].every(isPartial)
}

/** True if the best match of each clause has every word of it. */
const isCovered = (clauses: readonly ClauseEvidence[]): boolean =>
  clauses.length > 0 && clauses.every(({ best }) => best.coverage === 1)

/** Certainty that the first matches answer the query, from 0 to 1: belief in the words, and closeness in meaning if it is known. */
export function certaintyOf(clauses: readonly ClauseEvidence[], first: FirstEvidence, support?: MeaningSupport): number {
  const belief = beliefOf(clauses)
  const limit = isDoubtful(first) ? maxInAny : 1
  if (support === undefined)
    return belief < weakBelief ? (belief / weakBelief) * weak : Math.min(limit, weak + (belief - weakBelief) * beliefScale)
  const { firstCosine, cosine } = support
  const closeness = cosineShare * firstCosine - (first.lacksRarest ? rarestPenalty : 0)
  const inFirst = Math.min(limit, beliefInClause(first) + closeness)
  // A word of each clause in some tool, or closeness alone, makes a match possible, but not certain.
  const inAny = Math.min(maxInAny, Math.max(belief + closeness, cosine))
  // A tool that has every word of the query is a match, however unusual its words are.
  const least = isCovered(clauses) ? weak : 0
  return Math.max(least, inFirst, inAny)
}

/** Rates a certainty; below `minimum` there is no match. */
export function rated(certainty: number, minimum = weak): Confidence {
  if (certainty < minimum) return 'none'
  return certainty >= strong ? 'strong' : 'weak'
}

function beliefInClause({ best, others = [] }: ClauseEvidence): number {
  return Math.max(beliefIn(best, 1), ...others.map((other) => beliefIn(other, outrankedShare)))
}

function beliefIn({ coverage, nameShare, amount }: Evidence, share: number): number {
  const belief = share * Math.cbrt(coverage * Math.min(1, minNameShare + nameShare) * Math.min(1, amount))
  // Among a few similar tools, common words say little; a tool that covers every word is still a match.
  return coverage === 1 ? Math.max(weakBelief, belief) : belief
}
