import { scoreOf, shareOf } from './ranking.ts'

export interface Candidate {
  readonly slot: number
  readonly id: string
  readonly source: number
  /** How the query names it: exactly (3), normalized (2), among other words (1), not at all (0). */
  readonly naming: 0 | 1 | 2 | 3
  /** Boosted score per clause. */
  readonly scores: readonly number[]
  readonly boost: number
}

export interface RankedCandidate {
  readonly candidate: Candidate
  readonly score: number
}

/** Remaining weight of a clause after its best tool is selected. */
const coveredClauseFactor = 0.7
/** Number of positions filled with all clauses in mind. */
const placesForClauses = 20
/** Minimum relative score of a tool from another source. */
export const comparableShare = 0.7

/** Share of the places for tools of one source that are nearly the same: two of five. */
const similarShare = 0.4

export interface SelectionOptions {
  readonly count: number
  /** Maximum from one source while others have comparable ones. */
  readonly perSource: number
  /** True for documents that are nearly the same. Absent if there is only one source, or no limit for them. */
  readonly areSimilar?: (slot: number, other: number) => boolean
  /** Number that copies of one tool share; undefined for a tool without one. */
  readonly cloneOf?: (slot: number) => number | undefined
  /** True for a source that the query names; it has no limit. */
  readonly isNamedSource?: (source: number) => boolean
}

/** Returns the first `count` candidates in order. */
export function selectMatches(candidates: readonly Candidate[], options: SelectionOptions): readonly RankedCandidate[] {
  return limitPerSource(orderByFadingClauses(candidates, options.count), options)
}

/**
 * Maximum number of tools of one source that are nearly the same, in a result of `count` tools. A server could otherwise fill a result
 * with copies of one tool.
 */
export const similarPlaces = (count: number): number => Math.max(1, Math.ceil(similarShare * count))

/**
 * Orders by score. Each selected tool reduces the weight of the clauses it covers, so that five tools for the first step do not
 * displace the second step.
 */
function orderByFadingClauses(candidates: readonly Candidate[], count: number): readonly RankedCandidate[] {
  const clauses = candidates[0]?.scores.length ?? 0
  if (clauses < 2) return candidates.map((candidate) => ({ candidate, score: candidate.scores[0] ?? 0 })).sort(byPlace)
  const best = bestScores(candidates, clauses)
  // The share of a product is the product of the shares, so that each share is computed once.
  const fade = new Float64Array(clauses).fill(1)
  const ranked: RankedCandidate[] = []
  const rest: SharingCandidate[] = candidates.map((candidate) => ({
    candidate,
    shares: Float64Array.from(candidate.scores, shareOf),
  }))
  while (rest.length > 0 && ranked.length < Math.min(count, placesForClauses)) {
    const at = bestOf(rest, fade)
    const { candidate, shares } = rest[at] as SharingCandidate
    rest[at] = rest.at(-1) as SharingCandidate
    rest.pop()
    ranked.push({ candidate, score: scoreOf(sumOf(shares, fade)) })
    for (let clause = 0; clause < clauses; clause++) {
      const share = (candidate.scores[clause] ?? 0) / (best[clause] || 1)
      fade[clause] = (fade[clause] as number) * shareOf(1 - (1 - coveredClauseFactor) * share * share)
    }
  }
  const others = rest.map(({ candidate, shares }) => ({ candidate, score: scoreOf(sumOf(shares, fade)) }))
  return [...ranked, ...others.sort(byPlace)]
}

/** A candidate with its share in each clause. */
interface SharingCandidate {
  readonly candidate: Candidate
  readonly shares: Float64Array
}

function bestScores(candidates: readonly Candidate[], clauses: number): Float64Array {
  const best = new Float64Array(clauses)
  for (const { scores } of candidates) {
    for (let clause = 0; clause < clauses; clause++) best[clause] = Math.max(best[clause] ?? 0, scores[clause] ?? 0)
  }
  return best
}

function bestOf(candidates: readonly SharingCandidate[], fade: Float64Array): number {
  let best = 0
  let most = -1
  for (let index = 0; index < candidates.length; index++) {
    const { candidate, shares } = candidates[index] as SharingCandidate
    const sum = sumOf(shares, fade)
    const leader = (candidates[best] as SharingCandidate).candidate
    const lead = candidate.naming - leader.naming || sum - most || (candidate.id < leader.id ? 1 : -1)
    if (index > 0 && lead <= 0) continue
    best = index
    most = sum
  }
  return best
}

function sumOf(shares: Float64Array, fade: Float64Array): number {
  let sum = 0
  for (let clause = 0; clause < shares.length; clause++) sum += (shares[clause] as number) * (fade[clause] as number)
  return sum
}

function byPlace(a: RankedCandidate, b: RankedCandidate): number {
  return b.candidate.naming - a.candidate.naming || b.score - a.score || (a.candidate.id < b.candidate.id ? -1 : 1)
}

/**
 * Prefers comparable tools of other sources over more than `perSource` of one source. Leaves out near copies beyond their limit, if other
 * sources have matches.
 */
function limitPerSource(
  ranked: readonly RankedCandidate[],
  { count, perSource, areSimilar, cloneOf, isNamedSource }: SelectionOptions,
): readonly RankedCandidate[] {
  const rest = [...ranked]
  const shown: RankedCandidate[] = []
  const copies: RankedCandidate[] = []
  const taken = new Map<number, number>()
  const isFull = ({ candidate }: RankedCandidate): boolean =>
    candidate.naming === 0 && (taken.get(candidate.source) ?? 0) >= perSource && isNamedSource?.(candidate.source) !== true
  const clones = new Set<number>()
  /** True for a copy of a tool that is already shown: the result names it there. */
  const isClone = ({ candidate: { slot } }: RankedCandidate): boolean => {
    const clone = cloneOf?.(slot)
    if (clone === undefined) return false
    const isKnown = clones.has(clone)
    clones.add(clone)
    return isKnown
  }
  const isCopy = ({ candidate: { source, slot } }: RankedCandidate): boolean => {
    if (areSimilar === undefined || (taken.get(source) ?? 0) < similarPlaces(count)) return false
    const own = shown.filter(({ candidate }) => candidate.source === source)
    return own.filter(({ candidate }) => areSimilar(slot, candidate.slot)).length >= similarPlaces(count)
  }
  while (rest.length > 0 && shown.length < count) {
    const first = rest[0] as RankedCandidate
    const other = isFull(first) ? rest.findIndex((each) => !isFull(each) && each.score >= comparableShare * first.score) : 0
    const [next] = rest.splice(Math.max(0, other), 1) as [RankedCandidate]
    if (isClone(next)) continue
    if (isCopy(next)) {
      copies.push(next)
      continue
    }
    shown.push(next)
    taken.set(next.candidate.source, (taken.get(next.candidate.source) ?? 0) + 1)
  }
  // Copies displace nobody if no other source has a match.
  return taken.size < 2 ? [...shown, ...copies].sort(byRank(ranked)).slice(0, count) : shown
}

function byRank(ranked: readonly RankedCandidate[]): (one: RankedCandidate, other: RankedCandidate) => number {
  const places = new Map(ranked.map((each, place) => [each, place]))
  return (one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0)
}
