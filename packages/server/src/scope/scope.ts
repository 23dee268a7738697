import type { LoggingLevel } from '@modelcontextprotocol/server'
import type { Activation, Exposure, HostProfile, Relists } from '@unfold-mcp/core'
import type { ExposureSettings } from '../catalog/exposure-options.ts'
import type { ScopedServer } from '../catalog/scoped-server.ts'
import type { Era } from '../tool/context.ts'
import type { Principal } from '../tool/principal.ts'

/** An activation that one or more scopes share, with the queue that keeps its transitions one after another. */
export class ActivationState {
  readonly key: string
  activation: Activation
  /** The key under which it is kept for another time. */
  readonly savedAs: string | undefined
  readonly scopes = new Set<Scope>()
  /** Nobody uses it any more, so nothing is switched on again. */
  isOver = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(key: string, activation: Activation, savedAs?: string) {
    this.key = key
    this.activation = activation
    this.savedAs = savedAs
  }

  /** Runs `work` when all that came before it is done, however that ended. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work)
    this.#last = result.catch(() => undefined)
    return result
  }
}

/**
 * How a client wishes to be shown the tools, or the author wishes it for them. `auto` and `measured` leave it to what the whole
 * list would cost: `auto` chooses what this client can follow, `measured` shows everything or the surface to find it.
 */
export type ExposurePreference = Exposure | 'auto' | 'measured'

/** The host that a client belongs to, and where that is known from. `client`: the name it gave when it initialised. */
export interface Host {
  readonly profile: HostProfile
  readonly from: 'address' | 'configuration' | 'client'
}

/** What decides how a scope is shown, beside its activation. */
export interface ScopeSettings {
  readonly era: Era
  readonly principal: Principal | undefined
  readonly preference: ExposurePreference
  readonly exposureSettings: ExposureSettings
  readonly host: Host | undefined
  /** Whether a call can change what this client sees: it has a state of its own, and may list again. */
  readonly canActivate: boolean
  readonly readOnly: boolean
  /** Whether `_meta` tells how much data the modes of composite tools have. */
  readonly counts: boolean
}

/**
 * Notifies a client that its list changed, and never throws. `alongside` sends the notification with the reply to the call that
 * caused the change, for a client without an open stream. Resolves to `true` when the client was notified on a stream, so that it can list again before that reply.
 */
export type Deliver = (alongside?: () => Promise<void>) => Promise<unknown>

/** The key of scopes that last for one request. */
export const ephemeralKey = 'request'

/** Whose activation a request reads and writes, and how a change of its view is told. */
export class Scope {
  readonly key: string
  readonly state: ActivationState
  readonly settings: ScopeSettings
  /** The adopted server that was made for this scope. */
  readonly scopedServer: ScopedServer | undefined
  /** Tells the client that its list changed; set once the client is ready to hear it. */
  deliver: Deliver | undefined
  /** The fingerprint of the view that was last announced. */
  announced: string | undefined
  /** The tools that others wait for and that have succeeded here. It is forgotten with the session. */
  succeeded: ReadonlySet<string> = new Set()
  /** The names of the tools in the order this scope saw them, for lists that only append. */
  order: readonly string[] = []
  /** When it was last told of a change that it has not listed since. */
  toldAt: number | undefined
  /** Learned in this session: the client was notified of a change and did not list again. */
  neverRelists = false
  /** Whether replies to activations wait for this client to list again; not after it once failed to. */
  awaitsRelist = true
  /** The least severe log messages that a client of the session era wants; all where it did not say. */
  logLevel: LoggingLevel | undefined
  /** Called when the client lists its tools. */
  readonly relisted = new Set<() => void>()

  constructor(key: string, state: ActivationState, settings: ScopeSettings, scopedServer?: ScopedServer) {
    this.key = key
    this.state = state
    this.settings = settings
    this.scopedServer = scopedServer
  }

  /** When this client lists again after a change: as its address or the configuration says, as it behaved, or as its host does. */
  get relists(): Relists | undefined {
    const { host } = this.settings
    if (host !== undefined && host.from !== 'client') return host.profile.relists
    return this.neverRelists ? 'never' : host?.profile.relists
  }

  /** Whether the model sees a changed list too late to use it, so that it needs `call_tool` for what is activated. */
  get missesChanges(): boolean {
    return this.relists === 'never' || this.relists === 'late'
  }
}
