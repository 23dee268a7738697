import type { Runtime } from '../runtime/runtime.ts'
import { runtimeOf } from '../runtime/servable.ts'
import type { Resumption } from './session-http.ts'
import { type SessionLimits, Sessions } from './sessions.ts'
import { Stateless, type StatelessOptions } from './stateless.ts'

/** The clients of one toolbox. */
export interface Branch {
  readonly runtime: Runtime
  readonly sessions: Sessions
  readonly stateless: Stateless
}

export interface BranchesOptions extends Omit<StatelessOptions, 'streams'> {
  readonly sessions: SessionLimits & Resumption
  /** The clock for idle sessions. */
  readonly now: () => number
}

/** The toolboxes that one handler serves. A branch begins with the first client of its toolbox; limits hold for all of them together. */
export class Branches {
  readonly #options: BranchesOptions
  readonly #byRuntime = new Map<Runtime, Branch>()
  #begun = 0

  constructor(options: BranchesOptions) {
    this.#options = options
  }

  of(served: object): Branch {
    const runtime = runtimeOf(served)
    const found = this.#byRuntime.get(runtime)
    if (found !== undefined) return found
    const { sessions, now, ...stateless } = this.#options
    const made: Branch = {
      runtime,
      sessions: new Sessions(runtime, sessions, {
        now,
        occupied: () => this.#sum('sessions'),
        sweep: () => this.sweep(),
        number: () => ++this.#begun,
      }),
      stateless: new Stateless(runtime, { ...stateless, streams: () => this.#sum('stateless') }),
    }
    this.#byRuntime.set(runtime, made)
    return made
  }

  all(): readonly Branch[] {
    return [...this.#byRuntime.values()]
  }

  /** Ends sessions that nobody uses any more. */
  async sweep(): Promise<void> {
    await Promise.all(this.all().map(({ sessions }) => sessions.sweep()))
  }

  /** Ends everything of a toolbox that is not served any more. */
  async forget(served: object): Promise<void> {
    const runtime = runtimeOf(served)
    const found = this.#byRuntime.get(runtime)
    this.#byRuntime.delete(runtime)
    if (found !== undefined) await Promise.all([found.sessions.close(), found.stateless.close()])
  }

  async close(): Promise<void> {
    await Promise.all(this.all().flatMap(({ sessions, stateless }) => [sessions.close(), stateless.close()]))
  }

  #sum(part: 'sessions' | 'stateless'): number {
    let sum = 0
    for (const branch of this.#byRuntime.values()) sum += branch[part].occupied
    return sum
  }
}
