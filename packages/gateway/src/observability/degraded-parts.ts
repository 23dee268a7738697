import type { Log } from '../base/log.ts'

/** A part of the gateway that does not work; the gateway continues without it. */
export interface DegradedPart {
  readonly part: 'approvals' | 'audit' | 'cluster' | 'consent' | 'log' | 'scripts' | 'store' | 'trust'
  readonly problem: string
}

/** Tracks degraded parts, and logs when one fails and when it recovers. */
export class DegradedParts {
  readonly #log: Log
  readonly #problems = new Map<DegradedPart['part'], string>()

  constructor(log: Log) {
    this.#log = log
  }

  /** Sets the problem of a part; `undefined` when it works. */
  update(part: DegradedPart['part'], problem: string | undefined): void {
    const before = this.#problems.get(part)
    if (problem === undefined) {
      this.#problems.delete(part)
      if (before !== undefined) this.#log.info({ part }, `${part} works again`)
      return
    }
    this.#problems.set(part, problem)
    if (before === undefined) this.#log.error({ part }, problem)
  }

  list(): readonly DegradedPart[] {
    const logProblem = this.#log.problem?.()
    return [
      ...[...this.#problems].map(([part, problem]) => ({ part, problem })),
      ...(logProblem === undefined ? [] : [{ part: 'log' as const, problem: logProblem }]),
    ]
  }
}
