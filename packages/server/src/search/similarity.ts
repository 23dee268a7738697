import type { SemanticMatch } from '@unfold-mcp/core'

// The similarity of unrelated texts differs between models, so scores are compared with each other, not with a fixed threshold.
const minDeviations = 3
const minLead = 0.1
/** Ratio of the median absolute deviation to the standard deviation of a normal distribution. */
const madPerDeviation = 0.6745

/**
 * Returns the matches whose score is an outlier above the median, best first. The median, unlike the mean, is not moved by a few
 * good matches.
 */
export function outliers(matches: readonly SemanticMatch[]): readonly SemanticMatch[] {
  const center = median(matches.map(({ score }) => score))
  const deviation = median(matches.map(({ score }) => Math.abs(score - center))) / madPerDeviation
  const threshold = center + Math.max(minLead, minDeviations * deviation)
  return matches.filter(({ score }) => score >= threshold).sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
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
