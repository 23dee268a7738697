import type { Implementation, McpServer } from '@modelcontextprotocol/server'
import type { FactSource, Facts, GroupDeclaration, IdentityBasis, Quota } from '@unfold-mcp/core'
import type { SearchChoice } from '../search/settings.ts'
import type { ActivationStore } from '../stores/store.ts'
import type { Era } from '../tool/context.ts'
import type { Declared } from '../tool/declared.ts'
import type { Principal } from '../tool/principal.ts'
import type { Reporter } from '../tool/report.ts'
import type { ExposureMode, ExposureOptions, ExposureSettings } from './exposure-options.ts'
import type { GroupHooks } from './group-hooks.ts'
import type { MessageLimits } from './message-limits.ts'
import type { Permit, PermitSource } from './permissions.ts'
import type { MakeScopedServer } from './scoped-server.ts'

/** A group as a toolbox declares it. */
export interface GroupOptions<Name extends string = string> extends Omit<GroupDeclaration<Name>, 'strict'> {
  /** The same as `about`, and the name to prefer. */
  readonly description?: string
  /** Work that must be done before the group's tools can run; they then run only while the group is active. */
  readonly hooks?: GroupHooks
}

/** What a call of a tool that is not shown is answered with. */
export type HiddenCalls = 'opaque' | 'hint' | 'reveal'

/**
 * How long an activation is kept, and for whom. `session`: for that session. `reconnect`: likewise, and the principal's next
 * session starts with it. `principal`: one for all sessions and requests of a principal, also on 2026-07-28.
 */
export type Remember = 'session' | 'reconnect' | 'principal'

/** Whom a protocol server is for. */
export interface Served {
  /** Whose it is. `session:…` and `connection:…` last as long as their client is there, all others for one request or stream. */
  readonly scope: string
  readonly era: Era
  readonly principal: Principal | undefined
}

/** Registers prompts, resources and the like on a protocol server before it connects. */
export type Extension = (mcp: McpServer, served: Served) => void

/** How long the activations of this principal are kept. */
export const rememberFor = ({ remember }: Pick<Declaration, 'remember'>, principal: Principal | undefined): Remember =>
  typeof remember === 'function' ? remember(principal) : remember

/** Whether some principal may have one activation for all its sessions and requests. */
export const mayShare = ({ remember }: Pick<Declaration, 'remember'>): boolean =>
  typeof remember === 'function' || remember === 'principal'

/** All that an author decided, with every default filled in. */
export interface Declaration {
  readonly info: Implementation
  readonly about: string | undefined
  readonly instructions: string | undefined
  readonly groups: { readonly [name: string]: Declared<GroupOptions> }
  readonly gated: boolean
  readonly quota: Quota
  readonly hiddenCalls: HiddenCalls
  /** How clients are presented the tools when `exposureFor` and their address do not decide otherwise. */
  readonly exposureSettings: ExposureSettings
  readonly exposureFor: ((principal: Principal | undefined) => ExposureMode | ExposureOptions) | undefined
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
  readonly admit:
    | ((call: {
        readonly tool: string
        readonly scope: string
        readonly principal: Principal | undefined
      }) => void | Promise<void>)
    | undefined
  readonly report: Reporter
  /** The clock for learning whether a client lists again, in milliseconds. */
  readonly now: () => number
  /** Registers prompts, resources and the like on each protocol server. */
  readonly extend: readonly Extension[]
  /** Makes the protocol server of each scope, where that is an adopted one. */
  readonly scopedServer: MakeScopedServer | undefined
}
