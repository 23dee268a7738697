import type { SemanticMatch } from '@unfold-mcp/core'

// The similarity of unrelated texts differs between models, so scores are compared with each other, not with a fixed threshold.
const minDeviations = 3
const minLead = 0.1
/** Ratio of the median absolute deviation to the standard deviation of a normal distribution. */
const madPerDeviation = 0.6745

/** Share of the tools from which one source can move the median. */
const largeShare = 0.25

/**
 * Returns the matches whose score is an outlier above the median, best first. The median, unlike the mean, is not moved by a few
 * good matches. A large source cannot hide the tools of others with many similar tools: they are also compared without it.
 */
export function outliers(
  matches: readonly SemanticMatch[],
  sourceOf: (match: SemanticMatch) => string = () => '',
): readonly SemanticMatch[] {
  const sizes = new Map<string, number>()
  for (const match of matches) sizes.set(sourceOf(match), (sizes.get(sourceOf(match)) ?? 0) + 1)
  const large = [...sizes].filter(([, size]) => size > largeShare * matches.length && size < matches.length)
  const threshold = thresholdOf(matches)
  const without = large.map(([source]) => ({
    source,
    threshold: thresholdOf(matches.filter((each) => sourceOf(each) !== source)),
  }))
  const standsOut = (match: SemanticMatch): boolean =>
    match.score >= threshold || without.some((each) => each.source !== sourceOf(match) && match.score >= each.threshold)
  return matches.filter(standsOut).sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
}

function thresholdOf(matches: readonly SemanticMatch[]): number {
  const center = median(matches.map(({ score }) => score))
  const deviation = median(matches.map(({ score }) => Math.abs(score - center))) / madPerDeviation
  return center + Math.max(minLead, minDeviations * deviation)
}

/** Returns the lower median. */
function median(values: readonly number[]): number {
  return Float64Array.from(values).sort()[(values.length - 1) >> 1] ?? 0
}

/** Returns the unit vector; a zero vector stays as it is. */
export function normalize(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return length === 0 ? vector : vector.map((value) => value / length)
}

export function dotProduct(a: Float32Array, b: Float32Array): number {
  let even = 0
  let odd = 0
  // Two independent sums let the CPU run them in parallel: this loop runs for every tool of a catalogue.
  for (let i = 0; i < a.length; i += 2) {
    even += (a[i] as number) * (b[i] as number)
    odd += (a[i + 1] ?? 0) * (b[i + 1] ?? 0)
  }
  return even + odd
}
