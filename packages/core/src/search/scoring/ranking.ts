import { fields } from '../fields.ts'

// Ranking constants; results change little around each value.

/** Term frequency saturation (k1 of BM25). */
const saturation = 3
/** Length normalization (b of BM25). */
const lengthShare = 0.5
/** Maximum relative field length considered. */
const longest = 4
/** Maximum repetitions counted per field. */
const maxRepeats = 3
/** Minimum weight of a literal match. */
const literalFloor = 0.1
/** Weight of a synonym relative to a literal match … */
const synonymShare = 0.4
/** … and its maximum, below any literal match: the lowest of those is 0.166 with the numbers above, and a name adds up to 15 %. */
const synonymCeiling = 0.14
/** Weight of a corrected word. */
const misspeltShare = 1

/** Impact of a term on a document, from 0 to 1, from its count in each field and the field lengths. */
export function termImpact(counts: Uint16Array, row: number, lengths: Float64Array): number {
  let sum = 0
  for (let i = 0; i < fields.length; i++) {
    const count = counts[row * fields.length + i] ?? 0
    const field = fields[i]
    if (count === 0 || field === undefined) continue
    const length = Math.min(longest, (lengths[i] ?? 0) / field.usual)
    sum += (field.weight * Math.min(maxRepeats, count)) / (1 - lengthShare + lengthShare * length)
  }
  return sum / (saturation + sum)
}

/** Inverse document frequency of a term in `holding` of `total` documents. */
export function rarityOf(total: number, holding: number): number {
  return Math.log(1 + (total - holding + 0.5) / (holding + 0.5))
}

/** Kind of match. */
export type Via = 'literal' | 'synonym' | 'misspelt'

/** Weight of a match by impact: `floor + slope * impact`, at most `ceiling`. */
export interface MatchWeight {
  readonly floor: number
  readonly slope: number
  readonly ceiling: number
}

/** Any literal match outweighs any synonym. */
export const matchWeights: { readonly [V in Via]: MatchWeight } = {
  literal: { floor: literalFloor, slope: 1 - literalFloor, ceiling: 1 },
  synonym: { floor: 0, slope: synonymShare, ceiling: synonymCeiling },
  misspelt: { floor: misspeltShare * literalFloor, slope: misspeltShare * (1 - literalFloor), ceiling: 1 },
}

/**
 * Share of one clause in the score of a document; shares are summed. The exponent above 1 prefers a tool that covers one clause well
 * over one that touches all.
 */
export const shareOf = (score: number): number => score * Math.sqrt(score)

/** Inverse of `shareOf` for a sum of shares. */
export const scoreOf = (shares: number): number => shares ** (2 / 3)
