import { Shares } from '@unfold-mcp/core'
import type { Runtime } from '../runtime/runtime.ts'
import { runtimeOf } from '../runtime/servable.ts'
import type { Resumption } from './session-http.ts'
import { type SessionLimits, Sessions } from './sessions.ts'
import { Stateless, type StatelessOptions } from './stateless.ts'

/** The clients of one toolbox, by era. */
export interface Endpoint {
  readonly runtime: Runtime
  readonly sessions: Sessions
  readonly stateless: Stateless
}

export interface EndpointsOptions extends Omit<StatelessOptions, 'slots'> {
  readonly maxSubscriptions: number
  readonly sessions: SessionLimits & Resumption
  /** Clock for idle sessions, in milliseconds. */
  readonly now: () => number
}

/** The toolboxes of one handler. An endpoint is created for the first client of its toolbox; limits apply to all together. */
export class Endpoints {
  readonly #options: EndpointsOptions
  readonly #byRuntime = new Map<Runtime, Endpoint>()
  readonly #sessions: Shares
  readonly #streams: Shares
  #lastNumber = 0

  constructor(options: EndpointsOptions) {
    this.#options = options
    this.#sessions = new Shares(() => options.sessions.max)
    this.#streams = new Shares(() => options.maxSubscriptions)
  }

  get(served: object): Endpoint {
    const runtime = runtimeOf(served)
    const existing = this.#byRuntime.get(runtime)
    if (existing !== undefined) return existing
    const { sessions, now, ...stateless } = this.#options
    const endpoint: Endpoint = {
      runtime,
      sessions: new Sessions(runtime, sessions, {
        now,
        slots: this.#sessions,
        sweep: () => this.sweep(),
        nextNumber: () => ++this.#lastNumber,
      }),
      stateless: new Stateless(runtime, { ...stateless, slots: this.#streams }),
    }
    this.#byRuntime.set(runtime, endpoint)
    return endpoint
  }

  all(): readonly Endpoint[] {
    return [...this.#byRuntime.values()]
  }

  /** Ends idle sessions. */
  async sweep(): Promise<void> {
    await Promise.all(this.all().map(({ sessions }) => sessions.sweep()))
  }

  /** Ends the sessions, streams and calls of a toolbox. */
  async remove(served: object): Promise<void> {
    const runtime = runtimeOf(served)
    const endpoint = this.#byRuntime.get(runtime)
    this.#byRuntime.delete(runtime)
    if (endpoint !== undefined) await Promise.all([endpoint.sessions.close(), endpoint.stateless.close()])
  }

  async close(): Promise<void> {
    await Promise.all(this.all().flatMap(({ sessions, stateless }) => [sessions.close(), stateless.close()]))
  }
}
