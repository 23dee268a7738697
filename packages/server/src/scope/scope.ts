import type { LoggingLevel } from '@modelcontextprotocol/server'
import type { Activation, Exposure, HostProfile, Relists } from '@unfold-mcp/core'
import type { ExposureSettings } from '../catalog/exposure-options.ts'
import type { ScopedServer } from '../catalog/scoped-server.ts'
import type { Era } from '../tool/context.ts'
import type { Principal } from '../tool/principal.ts'

/** An activation that other processes may change too. */
export interface StoredActivation {
  /** Replaces it by a function of its current state, atomically across processes. The function may run more than once. */
  update(change: (activation: Activation) => Activation): Promise<Activation>
}

/** An activation that one or more scopes share. A queue keeps its transitions in order. */
export class ActivationState {
  readonly key: string
  activation: Activation
  /** Key in the store. */
  readonly savedAs: string | undefined
  /** Where other processes change it too. */
  stored: StoredActivation | undefined
  readonly scopes = new Set<Scope>()
  /** Released, so nothing is activated again. */
  isOver = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(key: string, activation: Activation, savedAs?: string) {
    this.key = key
    this.activation = activation
    this.savedAs = savedAs
  }

  /** Runs `work` after all earlier work has settled. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work)
    this.#last = result.catch(() => undefined)
    return result
  }
}

/**
 * How the client or the author wants tools to be shown. `auto` and `measured` depend on the cost of the full list: `auto` chooses
 * what this client can follow, `measured` shows either everything or the discovery tools.
 */
export type ExposurePreference = Exposure | 'auto' | 'measured'

/** The host that a client belongs to, and the source of that knowledge. `client`: `clientInfo.name`. */
export interface Host {
  readonly profile: HostProfile
  readonly from: 'address' | 'configuration' | 'client'
}

/** Everything except the activation that decides how a scope is shown. */
export interface ScopeSettings {
  readonly era: Era
  readonly principal: Principal | undefined
  /** Key of the client's share of all limits; absent where clients cannot be told apart. */
  readonly share?: string | undefined
  readonly preference: ExposurePreference
  readonly exposureSettings: ExposureSettings
  readonly host: Host | undefined
  /** Whether a call can change this client's list: it has its own state and may list again. */
  readonly canActivate: boolean
  readonly readOnly: boolean
  /** Include the amount of data of composite tools in `_meta`. */
  readonly counts: boolean
}

/**
 * Notifies a client that its list changed, and never throws. `alongside` sends the notification with the reply to the call that
 * caused the change, for a client without an open stream. Resolves to `true` if the client was notified on a stream, so that it can
 * list again before that reply.
 */
export type Deliver = (alongside?: () => Promise<void>) => Promise<unknown>

// Shared: most scopes never have one, and thousands of empty sets would add up.
const noTools: ReadonlySet<string> = new Set()

/** The key of scopes that last for one request. */
export const ephemeralKey = 'request'

/** One client: the activation it uses, its settings, and its knowledge of the list. */
export class Scope {
  readonly key: string
  readonly state: ActivationState
  readonly settings: ScopeSettings
  /** The adopted server that was created for this scope. */
  readonly scopedServer: ScopedServer | undefined
  /** Notifies the client; set once it is ready. */
  deliver: Deliver | undefined
  /** Fingerprint of the last announced view. */
  announced: string | undefined
  /** Fingerprint of the view that the client listed last. */
  listed: string | undefined
  /** Tools that others wait for and that succeeded in this session. */
  succeeded: ReadonlySet<string> = noTools
  /** Names of the tools in the order in which this scope first saw them, for `append`. */
  order: readonly string[] = []
  /** Time of the last notification after which it has not listed yet. */
  notifiedAt: number | undefined
  /** Learned in this session: the client was notified and did not list again. */
  neverRelists = false
  /** Whether replies to activations wait for this client to list again; not after it once failed to. */
  awaitsRelist = true
  /** Log level of a session-era client. Default: all messages. */
  logLevel: LoggingLevel | undefined
  /** Called when the client lists its tools. Created when a call first waits for that. */
  relisted: Set<() => void> | undefined

  constructor(key: string, state: ActivationState, settings: ScopeSettings, scopedServer?: ScopedServer) {
    this.key = key
    this.state = state
    this.settings = settings
    this.scopedServer = scopedServer
  }

  /** When this client lists again after a change: by URL or configuration, by its behaviour, or by its host profile. */
  get relists(): Relists | undefined {
    const { host } = this.settings
    if (host !== undefined && host.from !== 'client') return host.profile.relists
    return this.neverRelists ? 'never' : host?.profile.relists
  }

  /** Whether the model sees a changed list too late, so that it needs `call_tool` for activated tools. */
  get missesChanges(): boolean {
    return this.relists === 'never' || this.relists === 'late'
  }
}
