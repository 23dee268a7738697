import type { Implementation } from '@modelcontextprotocol/server'
import {
  checkGroupName,
  type FactSource,
  type Facts,
  Failure,
  gateName,
  type IdentityBasis,
  type Quota,
  type Tool,
} from '@unfold-mcp/core'
import type { Declaration, Extension, GroupOptions, HiddenCalls, RejectedCall, Remember } from './catalog/declaration.ts'
import { defaultExposureSettings, type ExposureMode, type ExposureOptions, withExposure } from './catalog/exposure-options.ts'
import { declaredGroups } from './catalog/group-options.ts'
import { defaultMessageLimits, type MessageLimits } from './catalog/message-limits.ts'
import type { PermitSource, Place } from './catalog/permissions.ts'
import { type Preview, type PreviewOptions, previewFor } from './operations/preview.ts'
import { changeFor, isActiveFor, toolListChanged } from './runtime/activation.ts'
import { addSource, createRuntime, type Runtime, stopRuntime } from './runtime/runtime.ts'
import { type principalType, servable } from './runtime/servable.ts'
import { inputSchema, type SchemaSource } from './schema/schema.ts'
import type { SearchSettings } from './search/settings.ts'
import { memoryStore } from './stores/memory.ts'
import type { ActivationStore } from './stores/store.ts'
import { type CompositeConfig, compositeOf, type ModeConfigs, type ModeHandlers } from './tool/composite.ts'
import type { ToolContext } from './tool/context.ts'
import { type Declared, declared } from './tool/declared.ts'
import type { Source, ToolEntry, ToolHandler } from './tool/entry.ts'
import type { Principal } from './tool/principal.ts'
import { type Reporter, stderrReporter } from './tool/report.ts'
import {
  type AnyConfig,
  declaredTool,
  definitionOf,
  entryOf,
  type InputOf,
  type ResultOf,
  type ToolConfig,
  toolKeys,
} from './tool/tool-config.ts'
import { gateKeys, introductionKeys, limitKeys, protocolKeys, quotaKeys, searchKeys, toolboxKeys } from './toolbox-keys.ts'

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
  /** Response to a call of an unlisted tool: as if it did not exist, a hint, or list it and run it. Default: `opaque`. */
  readonly hiddenCalls?: HiddenCalls
  /**
   * How clients see the tools if their URL does not say: a mode, or a mode with settings. Default: `groups`. A function decides per
   * principal, when a session begins or a stateless request arrives.
   */
  readonly exposure?: ExposureMode | ExposureOptions | ((principal: P | undefined) => ExposureMode | ExposureOptions)
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

/** Options of a composite tool. */
export type CompositeToolConfig<Name extends string, By extends string, M, C, F extends Facts> = Omit<
  ToolConfig<Name, C, undefined, F>,
  'output' | 'outputSchema' | 'activator'
> &
  CompositeConfig<By, M>

const { output: _, outputSchema: __, activator: ___, ...keysOfAnyMode } = toolKeys
const compositeKeys = { ...keysOfAnyMode, by: true, policy: true, modes: true } as const

/** Groups whose parents, exclusions and needs must be declared names. */
export type GroupsOf<Name extends string> = { readonly [K in Name]: GroupOptions<NoInfer<Name>> }

/** Tools that are declared once, for clients of both protocol eras. Serve it with `serve`, `createHandler` or `listen`. */
export class Toolbox<Name extends string = string, F extends Facts = Facts, P extends Principal = Principal> implements Source {
  readonly name: string
  readonly #options: ToolboxOptions<unknown, F, P>
  readonly #entries: ToolEntry[] = []
  readonly #taken = new Set<string>()
  /** The tool behind each name and former name. */
  readonly #owners = new Map<string, string>()
  readonly #extend: Extension[] = []
  readonly #listeners = new Set<(added?: ToolEntry) => void>()
  readonly #runtime: Runtime
  declare readonly [principalType]?: (principal: P | undefined) => void

  constructor(options: ToolboxOptions<unknown, F, P>) {
    this.name = options.name
    this.#options = options
    const runtime = createRuntime(declarationOf(options, { extend: this.#extend }), [this])
    this.#runtime = runtime
    servable(this, () => runtime)
  }

  /** Adds a tool. If the toolbox is already being served, clients are notified. */
  tool<const I extends SchemaSource | undefined = undefined, const O extends SchemaSource | undefined = undefined>(
    name: string,
    config: ToolConfig<Name, I, O, F>,
    handler: (input: InputOf<I>, ctx: ToolContext<Name, F, P>) => ResultOf<O> | Promise<ResultOf<O>>,
  ): this {
    return this.#add(
      entryOf(this.name, name, declaredTool(name, config as unknown as AnyConfig, toolKeys), {
        handler: handler as unknown as ToolHandler,
        gated: this.#options.gate !== undefined,
      }),
    )
  }

  /** Adds a composite tool: one parameter chooses between modes, each with its own handler, and only modes with data are listed. */
  composite<const By extends string, const M extends ModeConfigs<F>, const C extends SchemaSource | undefined = undefined>(
    name: string,
    config: CompositeToolConfig<Name, By, M, C, F>,
    handlers: ModeHandlers<By, C, M, ToolContext<Name, F, P>>,
  ): this {
    const given = config as unknown as CompositeToolConfig<string, string, ModeConfigs<never>, SchemaSource | undefined, Facts>
    const { by, policy = 'filtered', modes, inputSchema: common, ...plain } = declared(`tool "${name}"`, given, compositeKeys)
    const { json } = inputSchema(name, common)
    const made = compositeOf(definitionOf(name, plain, json, undefined), {
      by,
      policy,
      common,
      modes,
      handlers: handlers as unknown as { readonly [mode: string]: ToolHandler },
    })
    return this.#add(
      entryOf(this.name, name, plain, { handler: made.handler, gated: this.#options.gate !== undefined, composite: made }),
    )
  }

  #add(entry: ToolEntry): this {
    const { name } = entry.tool
    const key = entry.version === undefined ? name : `${name}@${entry.version}`
    if (this.#taken.has(key)) {
      throw new Failure(
        'duplicate_name',
        `The tool "${key}" is declared twice in ${this.name}. Rename one, or give each its own version.`,
        {
          name,
          sources: [this.name],
        },
      )
    }
    this.#refuseSharedName(entry)
    for (const listener of this.#listeners) listener(entry)
    this.#taken.add(key)
    for (const each of [name, ...entry.aliases]) this.#owners.set(each, name)
    this.#entries.push(entry)
    return this
  }

  /** Adds a source, such as a `ToolRegistry`, and follows its changes. */
  use(source: Source): this {
    addSource(this.#runtime, source)
    return this
  }

  /**
   * Registers prompts, resources, completions and custom methods (everything except tools) on each protocol server before it
   * connects.
   */
  extend(register: Extension): this {
    this.#extend.push(register)
    return this
  }

  /** Activates a group outside of a request: for a scope (`ctx.scope`), for `principal:<id>`, or for `all` connected clients. */
  activate(group: Name, scope: string): Promise<void> {
    return changeFor(this.#runtime, scope, 'activate', group)
  }

  deactivate(group: Name, scope: string): Promise<void> {
    return changeFor(this.#runtime, scope, 'deactivate', group)
  }

  /**
   * Returns whether a group is active, outside of a request: for a scope (`ctx.scope`), for all sessions of `principal:<id>`, or
   * without a scope for the only client over stdio.
   */
  isActive(group: Name, scope?: string): boolean {
    return isActiveFor(this.#runtime, group, scope)
  }

  /** Releases everything that hooks prepared. The toolbox cannot be served afterwards. `serve` does this itself. */
  close(): Promise<void> {
    return stopRuntime(this.#runtime)
  }

  /** Evaluates predicates again and notifies every client whose view changed. */
  toolListChanged(): void {
    toolListChanged(this.#runtime)
  }

  /** Returns what a client that connects now would be listed first, and everything it may use. */
  preview(client: PreviewOptions<P> = {}): Promise<Preview> {
    return previewFor(this.#runtime, client)
  }

  entries(): readonly ToolEntry[] {
    return this.#entries
  }

  subscribe(changed: (added?: ToolEntry) => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /** Throws if two tools share a name or former name; versions of one tool may. */
  #refuseSharedName({ tool: { name }, aliases }: ToolEntry): void {
    for (const each of [name, ...aliases]) {
      const owner = this.#owners.get(each) ?? name
      if (owner === name) continue
      const message = `In ${this.name} "${name}" and "${owner}" share the name "${each}". Rename one, or remove the alias.`
      throw new Failure('duplicate_name', message, { name: each, sources: [this.name] })
    }
  }
}

/** Declares a toolbox. The compiler checks the groups of tools against the declared ones. */
export function defineToolbox<const Name extends string = never, F extends Facts = Facts, P extends Principal = Principal>(
  options: ToolboxOptions<GroupsOf<Name>, F, P>,
): Toolbox<Name, F, P> {
  return new Toolbox(options)
}

/** Returns the options with current keys, and throws for unknown keys. */
function declaredOptions<F extends Facts, P extends Principal>(
  given: ToolboxOptions<unknown, F, P>,
): Declared<ToolboxOptions<unknown, F, P>> {
  const options = declared(`toolbox "${given.name}"`, given, toolboxKeys)
  if (options.quota !== undefined) declared('"quota"', options.quota, quotaKeys)
  if (options.limits !== undefined) declared('"limits"', options.limits, limitKeys)
  if (options.protocol !== undefined) declared('"protocol"', options.protocol, protocolKeys)
  if (typeof options.search === 'object') declared('"search"', options.search, searchKeys)
  return options
}

function declaredGate(gate: string | GateOptions | undefined): Declared<GateOptions> | undefined {
  if (gate === undefined) return undefined
  return typeof gate === 'string' ? { description: gate } : declared('"gate"', gate, gateKeys)
}

/** Fills in defaults, and throws for options that contradict each other. */
export function declarationOf<F extends Facts, P extends Principal>(
  given: ToolboxOptions<unknown, F, P>,
  { extend = [], scopedServer }: { readonly extend?: Declaration['extend']; readonly scopedServer?: Declaration['scopedServer'] },
): Declaration {
  const options = declaredOptions(given)
  const { limits = {}, protocol = {} } = options
  for (const what of ['callTimeoutMs', 'hookTimeoutMs', 'concurrency'] as const) positive(`limits.${what}`, limits[what])
  for (const what of ['pageSize', 'notifyIntervalMs'] as const) positive(`protocol.${what}`, protocol[what])
  if (typeof options.search === 'object') positive('search.deadlineMs', options.search.deadlineMs)
  const { name, version, title, icons, websiteUrl } = options
  const introduction = (): Declared<Introduction> => declared('"introduce"', options.introduce?.() ?? {}, introductionKeys)
  const implementation: Implementation = {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(icons !== undefined && { icons }),
    ...(websiteUrl !== undefined && { websiteUrl }),
  }
  const gate = declaredGate(options.gate)
  const behind = declaredGroups((options.groups ?? {}) as Declaration['groups'])
  for (const group of Object.keys(behind)) checkGroupName(group)
  const groups = gate === undefined ? behind : { [gateName]: { title: title ?? name, ...gate }, ...behind }
  return {
    get info() {
      return introduction().info ?? implementation
    },
    get description() {
      return introduction().description ?? options.description
    },
    instructions: options.instructions,
    groups,
    gated: options.gate !== undefined,
    quota: options.quota ?? {},
    hiddenCalls: options.hiddenCalls ?? 'opaque',
    exposureSettings: withExposure(
      defaultExposureSettings,
      typeof options.exposure === 'function' ? {} : (options.exposure ?? {}),
    ),
    exposureFor: typeof options.exposure === 'function' ? (options.exposure as Declaration['exposureFor']) : undefined,
    menu: options.menu ?? 'all',
    pageSize: protocol.pageSize,
    facts: options.facts,
    notifyIntervalMs: protocol.notifyIntervalMs ?? 1_000,
    after: options.after,
    counts: protocol.counts ?? true,
    identity: protocol.identity ?? 'definitions',
    permit: options.permit as Declaration['permit'],
    search: (options.search ?? {}) as Declaration['search'],
    remember: (options.remember as Declaration['remember'] | undefined) ?? 'session',
    store: options.store ?? memoryStore(),
    callTimeoutMs: limits.callTimeoutMs ?? 300_000,
    relistTimeoutMs: protocol.relistTimeoutMs ?? 500,
    hookTimeoutMs: limits.hookTimeoutMs ?? 30_000,
    ttlMs: protocol.ttlMs,
    listChanged: protocol.listChanged ?? true,
    messageLimits: {
      elements: limits.elements ?? defaultMessageLimits.elements,
      depth: limits.depth ?? defaultMessageLimits.depth,
    },
    callLimits: limits.concurrency === undefined ? undefined : { concurrency: limits.concurrency, queue: limits.queue ?? 256 },
    admit: options.admit as Declaration['admit'],
    rejected: options.rejected as Declaration['rejected'],
    report: options.report ?? stderrReporter(),
    now: options.now ?? (() => performance.now()),
    extend,
    scopedServer,
  }
}

function positive(what: string, value: number | undefined): void {
  if (value === undefined || (Number.isInteger(value) && value > 0)) return
  throw new Failure('invalid_declaration', `${what} must be a whole number above 0, not ${value}.`, { what })
}
