import type { Implementation } from '@modelcontextprotocol/server'
import type { FactSource, Facts, IdentityBasis, Quota, Tool } from '@unfold-mcp/core'
import type { CodeOptions } from './catalog/code-options.ts'
import type { GroupOptions, HiddenCalls, RejectedCall, Remember, SentList } from './catalog/declaration.ts'
import type { ExposureMode, ExposureOptions } from './catalog/exposure-options.ts'
import type { MessageLimits } from './catalog/message-limits.ts'
import type { PermitSource, Place } from './catalog/permissions.ts'
import type { SearchSettings } from './search/settings.ts'
import type { ActivationStore } from './stores/store.ts'
import type { Keys } from './tool/declared.ts'
import type { Principal } from './tool/principal.ts'
import type { Reporter } from './tool/report.ts'

/** Options of a toolbox. */
export interface ToolboxOptions<G, F extends Facts = Facts, P extends Principal = Principal> {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly icons?: Implementation['icons']
  readonly websiteUrl?: string
  /** What the server is for; the first thing a model reads about it. */
  readonly description?: string
  /** Former name of `description`. */
  readonly about?: string
  /** Instructions for the model. Default: generated from `description` and the groups. */
  readonly instructions?: string
  /** Replaces `name`, `description` and the like each time a client connects, for a server that represents another one. */
  readonly introduce?: () => Introduction
  readonly groups?: G
  /** Hides everything, groups included, behind one tool `activate`, which a new client sees alone. The text describes what is behind it. */
  readonly gate?: string | GateOptions
  /** The tool that must succeed once in a session before the others are listed, except those with `after: false`. */
  readonly after?: string
  /** Limits how many groups, or tokens of groups, are active at the same time. */
  readonly quota?: Quota
  /** Which activators are listed: `all`, or with `stepwise` those of nested groups only while their parent is active. */
  readonly menu?: 'all' | 'stepwise'
  /** Response to a call to an unlisted tool: as if it did not exist, a hint, or list it and run it. Default: `opaque`. */
  readonly hiddenCalls?: HiddenCalls
  /**
   * How clients see the tools if their URL does not say: a mode, or a mode with settings. Default: `groups`. A function decides per
   * principal, when a session begins or a stateless request arrives.
   */
  readonly exposure?: ExposureMode | ExposureOptions | ((principal: P | undefined) => ExposureMode | ExposureOptions)
  /**
   * Scripts over the tools (`run_code`): `true` or options list it in every exposure. By default it is listed only in the exposure
   * `code`, which a client can request in its URL; `false` turns it off.
   */
  readonly code?: boolean | CodeOptions
  /** Facts for predicates, read once per computation. Use `LiveFacts` to notify clients when they change. */
  readonly facts?: (() => F) | FactSource<F>
  /** Decides which tools exist for a principal. A `PermitSource` is asked less often. */
  readonly permit?: ((principal: P | undefined, tool: Tool, place: Place) => boolean) | PermitSource<P>
  /**
   * Search by meaning, with your own ranking, or learning from use. A function decides per principal at every search; return the
   * same embedder object each time, because its vectors are cached by object.
   */
  readonly search?: SearchSettings<P> | ((principal: P | undefined) => SearchSettings<P>)
  /** How long activations are kept, and for whom. Default: `session`. A function decides per principal, when it connects. */
  readonly remember?: Remember | ((principal: P | undefined) => Remember)
  /** Stores activations. Default: in memory. */
  readonly store?: ActivationStore
  readonly limits?: LimitOptions
  readonly protocol?: ProtocolOptions
  /** Runs before every call of any tool, including discovery tools. Throw a failure to refuse the call. */
  readonly admit?: (call: {
    readonly tool: string
    readonly scope: string
    readonly principal: P | undefined
    /** Key of the client's share of all limits; absent where clients cannot be told apart. */
    readonly share: string | undefined
  }) => void | Promise<void>
  /** Runs after a call that ended before its handler ran, for a log of rejections. It cannot change the reply. */
  readonly rejected?: (call: RejectedCall<P>) => void
  /** Runs for every tool list that is sent, with its tokens and those of a full list, to measure savings. It cannot change the list. */
  readonly listed?: (list: SentList<P>) => void
  /** Receives problems that the author should know about. Default: standard error. */
  readonly report?: Reporter
  /** Clock in milliseconds. */
  readonly now?: () => number
}

/** Limits on messages and on the time that handlers take. */
export interface LimitOptions extends Partial<MessageLimits> {
  /** Maximum number of running calls, which all clients share fairly. Default: no limit. */
  readonly concurrency?: number
  /** Maximum number of calls that wait for their turn, with `concurrency`. Default: 256. */
  readonly queue?: number
  /** Default: 300,000. */
  readonly callTimeoutMs?: number
  /** Default: 30,000. */
  readonly hookTimeoutMs?: number
}

/** What the server sends in addition to the tools themselves, and when. */
export interface ProtocolOptions {
  /** Tools per page of `tools/list`. Default: all on one page. */
  readonly pageSize?: number
  /** `false` turns off notifications of list changes. */
  readonly listChanged?: boolean
  /** Minimum time between two notifications that changed facts caused. Default: 1,000. */
  readonly notifyIntervalMs?: number
  /**
   * How long the reply to an activation waits for the client to list its tools again, so that the model can call the new tools
   * in its next turn. Default: 500; 0 never waits.
   */
  readonly relistTimeoutMs?: number
  /** How long a 2026-07-28 client may cache the list. Default: 60,000 for a list that cannot change, else 0. */
  readonly ttlMs?: number
  /** Identity of a list: of whole definitions (default), of `names` and descriptions only, or `false` for none. */
  readonly identity?: IdentityBasis | false
  /** `false` leaves `available_modes` and `data_counts` out of `_meta`. */
  readonly counts?: boolean
}

/** The gate of a toolbox. */
export interface GateOptions {
  /** What is behind the gate. Default: generated from the names of the tools. */
  readonly description?: string
  /** Former name of `description`. */
  readonly about?: string
  /** Open from the start. */
  readonly default?: boolean
}

/** Overrides for a client that connects; missing members come from the toolbox. */
export interface Introduction {
  /** Replaces `name`, `version`, `title`, `icons` and `websiteUrl`. */
  readonly info?: Implementation
  readonly description?: string
  /** Former name of `description`. */
  readonly about?: string
}

/** Groups whose parents, exclusions and needs must be declared names. */
export type GroupsOf<Name extends string> = { readonly [K in Name]: GroupOptions<NoInfer<Name>> }

// The compiler refuses a key that is missing here, and one that no declaration has.
export const toolboxKeys: Keys<ToolboxOptions<unknown>> = {
  name: true,
  version: true,
  title: true,
  icons: true,
  websiteUrl: true,
  description: true,
  about: true,
  instructions: true,
  introduce: true,
  groups: true,
  gate: true,
  quota: true,
  hiddenCalls: true,
  exposure: true,
  code: true,
  menu: true,
  facts: true,
  after: true,
  permit: true,
  search: true,
  remember: true,
  store: true,
  limits: true,
  protocol: true,
  admit: true,
  rejected: true,
  listed: true,
  report: true,
  now: true,
}

export const gateKeys: Keys<GateOptions> = { description: true, about: true, default: true }

export const introductionKeys: Keys<Introduction> = { info: true, description: true, about: true }

export const quotaKeys: Keys<Quota> = { groups: true, tokens: true, whenFull: true }

export const limitKeys: Keys<LimitOptions> = {
  elements: true,
  depth: true,
  concurrency: true,
  queue: true,
  callTimeoutMs: true,
  hookTimeoutMs: true,
}

export const protocolKeys: Keys<ProtocolOptions> = {
  pageSize: true,
  listChanged: true,
  notifyIntervalMs: true,
  relistTimeoutMs: true,
  ttlMs: true,
  identity: true,
  counts: true,
}

export const searchKeys: Keys<SearchSettings> = { embedder: true, minConfidence: true, deadlineMs: true, rank: true, learn: true }
