/** One of several things that are measured against each other. */
export interface Contestant {
  readonly name: string
  /** What is timed. */
  readonly run: () => unknown
  /** What must be done before each run and is not timed. */
  readonly prepare?: () => unknown
}

/** How long runs took, in microseconds. */
export interface Timing {
  readonly name: string
  readonly samples: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface Pace {
  readonly rounds: number
  /** How long each contestant runs in a round; at least once. */
  readonly sliceMs: number
  readonly warmUpMs: number
}

const fewest = 3

/**
 * Times every contestant in turn, a slice each, round after round (A, B, C, A, B, C …), so that whatever else the machine does
 * hits all of them alike. One whose single runs are longer than a slice sits out once it has used up its share.
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

/** Times every contestant once in each round, for what takes so long that a slice would be one run. */
export async function inTurns(contestants: readonly Contestant[], rounds: number): Promise<readonly Timing[]> {
  const runners = contestants.map((contestant) => ({ contestant, times: [] as number[] }))
  for (let round = 0; round < rounds; round++) for (const { contestant, times } of runners) await slice(contestant, 0, times)
  return runners.map(({ contestant, times }) => timingOf(contestant.name, times))
}

/** Runs for so long, and says how long it really was. */
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

/** What so many runs come to. */
export function timingOf(name: string, times: readonly number[]): Timing {
  const sorted = Float64Array.from(times).sort()
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { name, samples: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
