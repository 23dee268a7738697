import type { SemanticMatch } from '@unfold-mcp/core'

// How near two texts of no relation are differs from model to model, so a tool counts by how far it stands out from the others.
const deviations = 3
const leastLead = 0.1
/** What the median distance to the median is of a standard deviation, where values are spread as usual. */
const usualSpread = 0.6745

/**
 * Those that are clearly nearer to the query than most, nearest first: by the median, which a few that fit do not move. A
 * catalogue in which nothing stands out, and one of a single tool, has none.
 */
export function standingOut(all: readonly SemanticMatch[]): readonly SemanticMatch[] {
  const middle = median(all.map(({ score }) => score))
  const spread = median(all.map(({ score }) => Math.abs(score - middle))) / usualSpread
  const bar = middle + Math.max(leastLead, deviations * spread)
  return all.filter(({ score }) => score >= bar).sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
}

/** The lower one, where two are in the middle. */
function median(values: readonly number[]): number {
  return Float64Array.from(values).sort()[(values.length - 1) >> 1] ?? 0
}

/** The same direction with the length 1; a vector without a direction stays as it is. */
export function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return length === 0 ? vector : vector.map((value) => value / length)
}

/** How nearly two vectors of length 1 point the same way, from -1 to 1. */
export function product(a: Float32Array, b: Float32Array): number {
  let even = 0
  let odd = 0
  // Two sums that do not wait for each other: this runs for every tool of a catalogue.
  for (let i = 0; i < a.length; i += 2) {
    even += (a[i] as number) * (b[i] as number)
    odd += (a[i + 1] ?? 0) * (b[i + 1] ?? 0)
  }
  return even + odd
}
