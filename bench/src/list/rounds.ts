/** One of several contenders of a measurement. */
export interface Contestant {
  readonly name: string
  /** The measured work. */
  readonly run: () => unknown
  /** Preparation before each run, not measured. */
  readonly prepare?: () => unknown
}

/** Durations in microseconds. */
export interface Timing {
  readonly name: string
  readonly samples: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface Pace {
  readonly rounds: number
  /** Time per contestant and round; each runs at least once. */
  readonly sliceMs: number
  readonly warmUpMs: number
}

const fewest = 3

/**
 * Measures every contestant in turn for a slice of time, round after round (A, B, C, A, B, C …), so that other load on the machine
 * affects all of them equally. A contestant whose single run exceeds a slice skips rounds once it has used its share.
 */
export async function inRounds(contestants: readonly Contestant[], pace: Pace): Promise<readonly Timing[]> {
  const { rounds, sliceMs, warmUpMs } = pace
  const runners = contestants.map((contestant) => ({ contestant, times: [] as number[], spentMs: 0 }))
  for (const { contestant } of runners) await slice(contestant, warmUpMs, [])
  for (let round = 0; round < rounds; round++) {
    for (const runner of runners) {
      if (runner.spentMs > rounds * sliceMs && runner.times.length >= fewest) continue
      runner.spentMs += await slice(runner.contestant, sliceMs, runner.times)
    }
  }
  return runners.map(({ contestant, times }) => timingOf(contestant.name, times))
}

/** Measures every contestant once per round, for work that takes longer than a slice. */
export async function inTurns(contestants: readonly Contestant[], rounds: number): Promise<readonly Timing[]> {
  const runners = contestants.map((contestant) => ({ contestant, times: [] as number[] }))
  for (let round = 0; round < rounds; round++) for (const { contestant, times } of runners) await slice(contestant, 0, times)
  return runners.map(({ contestant, times }) => timingOf(contestant.name, times))
}

/** Runs for this time and returns the actual time. */
async function slice({ run, prepare }: Contestant, forMs: number, times: number[]): Promise<number> {
  const begin = performance.now()
  do {
    await prepare?.()
    const start = process.hrtime.bigint()
    await run()
    times.push(Number(process.hrtime.bigint() - start) / 1_000)
  } while (performance.now() < begin + forMs)
  return performance.now() - begin
}

/** Summarizes the durations. */
export function timingOf(name: string, times: readonly number[]): Timing {
  const sorted = Float64Array.from(times).sort()
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { name, samples: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
