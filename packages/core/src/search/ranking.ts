import { fields } from './fields.ts'

// The few numbers that shape a ranking. Results change little around each of them; they are round on purpose.

/** How slowly more of the same word stops mattering. */
const saturation = 3
/** How much of a word's weight depends on the length of its field. */
const lengthShare = 0.5
/** A field longer than this many times the usual is not punished further. */
const longest = 4
/** A word counts this often in a field, however often it is repeated. */
const maxRepeats = 3
/** What a literal match is worth at least. */
const literalFloor = 0.1
/** What a synonym is worth of a literal match in the same place … */
const synonymShare = 0.4
/** … and at most. Less than any literal match: with the numbers above and the fields' weights the least of those is worth 0.166. */
const synonymCeiling = 0.16
/** What a word is worth that was probably meant. */
const misspeltShare = 1

/** How much a document says about a term, from 0 to 1, given how often the term stands in each field of how many words. */
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

/** How telling a term is that `holding` of `total` documents have. */
export function rarityOf(total: number, holding: number): number {
  return Math.log(1 + (total - holding + 0.5) / (holding + 0.5))
}

/** How a document came to match a word. */
export type Via = 'literal' | 'synonym' | 'misspelt'

/** What a match of some impact is worth, from 0 to 1: `floor + slope * impact`, at most `ceiling`. */
export interface MatchWeight {
  readonly floor: number
  readonly slope: number
  readonly ceiling: number
}

/** Any literal match of a word is worth more than any of its synonyms. */
export const matchWeights: { readonly [V in Via]: MatchWeight } = {
  literal: { floor: literalFloor, slope: 1 - literalFloor, ceiling: 1 },
  synonym: { floor: 0, slope: synonymShare, ceiling: synonymCeiling },
  misspelt: { floor: misspeltShare * literalFloor, slope: misspeltShare * (1 - literalFloor), ceiling: 1 },
}

/**
 * One clause's share in the score of a document; shares are summed. A power above 1 puts a tool that answers one clause well
 * before one that touches them all.
 */
export const shareOf = (score: number): number => score * Math.sqrt(score)

/** The score that a sum of shares stands for. */
export const scoreOf = (shares: number): number => shares ** (2 / 3)
