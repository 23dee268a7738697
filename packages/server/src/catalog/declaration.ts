import type { Implementation, McpServer } from '@modelcontextprotocol/server'
import type { FactSource, Facts, GroupDeclaration, IdentityBasis, Quota } from '@unfold-mcp/core'
import type { SearchChoice } from '../search/settings.ts'
import type { ActivationStore } from '../stores/store.ts'
import type { ClientPort } from '../tool/client-port.ts'
import type { Era } from '../tool/context.ts'
import type { Declared } from '../tool/declared.ts'
import type { Principal } from '../tool/principal.ts'
import type { Reporter } from '../tool/report.ts'
import type { CodeSettings } from './code-options.ts'
import type { ExposureMode, ExposureOptions, ExposureSettings } from './exposure-options.ts'
import type { GroupHooks } from './group-hooks.ts'
import type { MessageLimits } from './message-limits.ts'
import type { Permit, PermitSource } from './permissions.ts'
import type { MakeScopedServer } from './scoped-server.ts'

/** A group as a toolbox declares it. */
export interface GroupOptions<Name extends string = string> extends Omit<GroupDeclaration<Name>, 'strict'> {
  /** Former name of `description`. */
  readonly about?: string
  /** Work to do before the group's tools can run. Such tools run only while the group is active. */
  readonly hooks?: GroupHooks
}

/** Response to a call to an unlisted tool. */
export type HiddenCalls = 'opaque' | 'hint' | 'reveal'

/**
 * How long an activation is kept, and for whom. `session`: for that session. `reconnect`: the principal's next session starts with
 * it. `principal`: one for all sessions and requests of a principal, also on 2026-07-28.
 */
export type Remember = 'session' | 'reconnect' | 'principal'

/** The client that a protocol server is for. */
export interface Served {
  /** `session:…` and `connection:…` last as long as their client; all others for one request or stream. */
  readonly scope: string
  readonly era: Era
  readonly principal: Principal | undefined
  /** Key of the client's share of all limits; absent where clients cannot be told apart. */
  readonly share?: string | undefined
}

/** Registers prompts, resources and the like on a protocol server before it connects. */
export type Extension = (mcp: McpServer, served: Served) => void

export const rememberFor = ({ remember }: Pick<Declaration, 'remember'>, principal: Principal | undefined): Remember =>
  typeof remember === 'function' ? remember(principal) : remember

/** Whether some principal may share one activation between its sessions and requests. */
export const mayShare = ({ remember }: Pick<Declaration, 'remember'>): boolean =>
  typeof remember === 'function' || remember === 'principal'

/** A call that ended before its handler ran. */
export interface RejectedCall<P extends Principal = Principal> {
  /** Name that the client sent; the name of the inner tool for a call through `call_tool`. */
  readonly tool: string
  readonly arguments: unknown
  /** Such as `unknown_tool`, `invalid_arguments` or `rate_limited`. */
  readonly reason: string
  readonly scope: string
  readonly era: Era
  readonly principal: P | undefined
  readonly client: ClientPort | undefined
}

/** A tool list that was sent to a client. */
export interface SentList<P extends Principal = Principal> {
  readonly era: Era
  readonly principal: P | undefined
  /** Name of the host, if it is known. */
  readonly host: string | undefined
  /** Tokens of the definitions that were sent. */
  readonly tokens: number
  /** Tokens of all definitions that the client may use; 0 for all pages of a list except the first. */
  readonly allTokens: number
}

/** All options of a toolbox, with defaults filled in. */
export interface Declaration {
  readonly info: Implementation
  readonly description: string | undefined
  readonly instructions: string | undefined
  readonly groups: { readonly [name: string]: Declared<GroupOptions> }
  readonly gated: boolean
  readonly quota: Quota
  readonly hiddenCalls: HiddenCalls
  /** Applies where neither `exposureFor` nor the client's URL decides. */
  readonly exposureSettings: ExposureSettings
  readonly exposureFor: ((principal: Principal | undefined) => ExposureMode | ExposureOptions) | undefined
  /** `undefined`: no scripts. */
  readonly code: CodeSettings | undefined
  readonly menu: 'all' | 'stepwise'
  readonly pageSize: number | undefined
  readonly facts: (() => Facts) | FactSource | undefined
  readonly notifyIntervalMs: number
  readonly after: string | undefined
  readonly counts: boolean
  readonly identity: IdentityBasis | false
  readonly permit: Permit | PermitSource | undefined
  readonly search: SearchChoice
  readonly remember: Remember | ((principal: Principal | undefined) => Remember)
  readonly store: ActivationStore
  readonly callTimeoutMs: number
  readonly relistTimeoutMs: number
  readonly hookTimeoutMs: number
  readonly ttlMs: number | undefined
  readonly listChanged: boolean
  readonly messageLimits: MessageLimits
  /** Maximum number of running and queued calls; `undefined`: no limit. */
  readonly callLimits: { readonly concurrency: number; readonly queue: number } | undefined
  readonly admit:
    | ((call: {
        readonly tool: string
        readonly scope: string
        readonly principal: Principal | undefined
        /** Key of the client's share of all limits; absent where clients cannot be told apart. */
        readonly share: string | undefined
      }) => void | Promise<void>)
    | undefined
  readonly rejected: ((call: RejectedCall) => void) | undefined
  readonly listed: ((list: SentList) => void) | undefined
  readonly report: Reporter
  /** Clock in milliseconds. */
  readonly now: () => number
  readonly extend: readonly Extension[]
  /** Creates the server of each scope, for an adopted server. */
  readonly scopedServer: MakeScopedServer | undefined
}
