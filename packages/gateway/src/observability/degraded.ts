import type { Log } from '../base/log.ts'

/** A part of the gateway that does not work as it should; the rest goes on without it. */
export interface DegradedPart {
  readonly part: 'audit' | 'log' | 'store'
  /** What is wrong, and what to do. */
  readonly problem: string
}

/** What the gateway does without for now. Each is told when it begins and when it is over, and not in between. */
export class DegradedParts {
  readonly #log: Log
  readonly #problems = new Map<DegradedPart['part'], string>()

  constructor(log: Log) {
    this.#log = log
  }

  /** What is wrong with a part now; nothing when it works. */
  note(part: DegradedPart['part'], problem: string | undefined): void {
    const before = this.#problems.get(part)
    if (problem === undefined) {
      this.#problems.delete(part)
      if (before !== undefined) this.#log.info({ part }, `The ${part} works again.`)
      return
    }
    this.#problems.set(part, problem)
    if (before === undefined) this.#log.error({ part }, problem)
  }

  all(): readonly DegradedPart[] {
    const { problem } = this.#log
    const log = problem?.()
    const told = log === undefined ? [] : [{ part: 'log', problem: log } as const]
    return [...[...this.#problems].map(([part, words]) => ({ part, problem: words })), ...told]
  }
}
