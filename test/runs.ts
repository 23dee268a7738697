/** True in `npm run test:long`, where randomised tests do all their runs, with other random numbers each time. */
const isLong = process.env.UNFOLD_TEST_LONG === '1'

interface Runs {
  /** Runs of `npm run test:long`. */
  readonly long: number
  /** Runs of all other commands. */
  readonly sample: number
}

/** Number of times that a test repeats its steps. */
export function runs({ long, sample }: Runs): number {
  return isLong ? long : sample
}

/** Parameters of fast-check. The sample has a fixed seed, so that `npm test` tries the same cases each time. */
export function propertyRuns(counts: Runs): { readonly numRuns: number; readonly seed?: number } {
  return isLong ? { numRuns: counts.long } : { numRuns: counts.sample, seed: 20_260_728 }
}
