/** Result of the suite for one scenario. */
export interface Result {
  readonly scenario: string
  readonly checks: readonly { readonly id: string; readonly status: string; readonly errorMessage?: string }[]
}

/** Unexpected failures, and expectations that no longer fail. */
export interface Judgement {
  readonly unexpected: readonly string[]
  readonly stale: readonly string[]
}

/** Compares like the suite does: a warning is a failure, and an expectation is a scenario or `<scenario>:<check>`. */
export function judged(results: readonly Result[], expected: readonly string[]): Judgement {
  const failed = results.flatMap(({ scenario, checks }) =>
    checks
      .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
      .map(({ id, errorMessage = 'no message' }) => ({
        names: [scenario, `${scenario}:${id}`],
        text: `${scenario}:${id}: ${errorMessage}`,
      })),
  )
  const met = new Set(failed.flatMap(({ names }) => names))
  return {
    unexpected: failed.filter(({ names }) => !names.some((name) => expected.includes(name))).map(({ text }) => text),
    stale: expected.filter((name) => !met.has(name)),
  }
}

/** Reads a list of expectations in the suite's format. */
export function expectationsIn(yaml: string): readonly string[] {
  return [...yaml.matchAll(/^ {2}- (\S+)$/gm)].map(([, entry = '']) => entry)
}
