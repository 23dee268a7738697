/** True in `npm run test:long`: randomised tests do all their runs, with a new seed each time. */
const isLong = process.env.UNFOLD_TEST_LONG === '1'

interface Runs {
  /** Runs of `npm run test:long`. */
  readonly long: number
  /** Runs of all other commands. */
  readonly sample: number
}

/** Returns the number of repetitions of a test. */
export function runs({ long, sample }: Runs): number {
  return isLong ? long : sample
}

/** Returns parameters for fast-check. The sample has a fixed seed, so that `npm test` is deterministic. */
export function propertyRuns(counts: Runs): { readonly numRuns: number; readonly seed?: number } {
  return isLong ? { numRuns: counts.long } : { numRuns: counts.sample, seed: 20_260_728 }
}
