import { Failure, Shares } from '@unfold-mcp/core'
import type { Runtime } from '../runtime/runtime.ts'
import { runtimeOf } from '../runtime/servable.ts'
import type { SessionStore } from '../stores/session-store.ts'
import { Sessions, type SessionsOptions } from './session/sessions.ts'
import { Stateless, type StatelessOptions } from './stateless.ts'

/** The clients of one toolbox, by era. */
export interface Endpoint {
  readonly runtime: Runtime
  readonly sessions: Sessions
  readonly stateless: Stateless
}

export interface EndpointsOptions extends Omit<StatelessOptions, 'slots'> {
  readonly maxSubscriptions: number
  readonly sessions: SessionsOptions
  /** Clock for idle sessions, in milliseconds. */
  readonly now: () => number
}

// Events of other replicas can be lost.
const compareMs = 5_000

// Lists are recorded together, so that a list does not wait for the store.
const confirmMs = 100

/** The toolboxes of one handler. An endpoint is created for the first client of its toolbox; limits apply to all together. */
export class Endpoints {
  readonly #options: EndpointsOptions
  readonly #byRuntime = new Map<Runtime, Endpoint>()
  readonly #sessions: Shares
  readonly #streams: Shares
  readonly #unsubscribe: () => void
  #lastNumber = 0

  constructor(options: EndpointsOptions) {
    this.#options = options
    this.#unsubscribe = this.#followOthers(options.sessions.store)
    this.#sessions = new Shares(() => options.sessions.max)
    this.#streams = new Shares(() => options.maxSubscriptions)
  }

  get(served: object): Endpoint {
    const runtime = runtimeOf(served)
    const existing = this.#byRuntime.get(runtime)
    if (existing !== undefined) return existing
    const { sessions, now, ...stateless } = this.#options
    if (sessions.store !== undefined) checkShareable(runtime)
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

  /** Ends the streams on which clients wait for notifications. */
  async handOver(): Promise<void> {
    const all = this.all()
    for (const { sessions } of all) sessions.endStreams()
    await Promise.all(all.map(({ stateless }) => stateless.endStreams()))
  }

  async close(): Promise<void> {
    this.#unsubscribe()
    await Promise.all(this.all().flatMap(({ sessions, stateless }) => [sessions.close(), stateless.close()]))
  }

  /** Follows what other replicas do with the sessions that are served here. */
  #followOthers(store: SessionStore | undefined): () => void {
    if (store === undefined) return () => undefined
    const { onerror } = this.#options
    const compare = (): void => {
      // The store reports when it cannot be reached.
      for (const { sessions } of this.all()) sessions.compare(store).catch(() => undefined)
    }
    const confirm = (): void => {
      for (const { sessions } of this.all()) sessions.confirm(store).catch(() => undefined)
    }
    const compareAll = (): void => {
      compare()
      for (const { stateless } of this.all()) stateless.remind()
    }
    const timers = [setInterval(compareAll, compareMs), setInterval(confirm, confirmMs)]
    for (const timer of timers) if (typeof timer === 'object') timer.unref()
    const unsubscribe = store.subscribe(
      (id, event) => {
        const holders = this.all().filter(({ sessions }) => sessions.has(id))
        for (const { sessions } of holders) sessions.onEvent(id, event).catch(onerror)
        // Otherwise a client would wait for the response of a session that has ended here.
        if (event.kind === 'followed' && holders.length === 0)
          store.send(id, { kind: 'streamed', stream: event.stream, isOver: true }, event.replica).catch(() => undefined)
      },
      () => {
        for (const { sessions } of this.all()) sessions.suspect()
        compare()
      },
    )
    return () => {
      for (const timer of timers) clearInterval(timer)
      unsubscribe()
    }
  }
}

/** Throws for a toolbox whose sessions have state that a record cannot hold. */
function checkShareable({ declaration: { groups, scopedServer } }: Runtime): void {
  const hooked = Object.entries(groups).find(([, { hooks }]) => hooks !== undefined)?.[0]
  if (hooked === undefined && scopedServer === undefined) return
  const what = hooked === undefined ? 'an adopted server' : `the hooks of group "${hooked}"`
  const message = `Sessions with ${what} cannot be shared by replicas, because they have state in one process. Remove \`sessions.store\`.`
  throw new Failure('invalid_declaration', message, { what: 'sessions.store' })
}
