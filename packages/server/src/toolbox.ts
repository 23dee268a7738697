import type { CallToolResult, Implementation, InputRequiredResult } from '@modelcontextprotocol/server'
import {
  checkGroupName,
  type FactSource,
  type Facts,
  Failure,
  gateName,
  type IdentityBasis,
  type Modes,
  type Predicate,
  type Quota,
  type Tool,
  type ToolAnnotations,
} from '@unfold-mcp/core'
import { type CompositeConfig, compositeOf, type ModeConfigs, type ModeHandlers } from './composite.ts'
import type { ToolContext } from './context.ts'
import { type Source, type ToolEntry, type ToolHandler, withVersion } from './entry.ts'
import type { Principal } from './principal.ts'
import { type Reporter, stderrReporter } from './report.ts'
import type { HandlerResult } from './result.ts'
import type { Declaration, Extension, GroupOptions, HiddenCalls, Remember } from './runtime/declaration.ts'
import { alwaysLoad } from './runtime/host-hints.ts'
import { defaultMessageLimits, type MessageLimits } from './runtime/limits.ts'
import type { PermitSource, Place } from './runtime/permissions.ts'
import {
  defaultPresentation,
  type ExposureOptions,
  type Presentation,
  presentationWith,
  type Wished,
} from './runtime/presentation.ts'
import { type Preview, type PreviewOptions, previewOf } from './runtime/preview.ts'
import { Runtime } from './runtime/runtime.ts'
import { type InputSchema, inputSchema, outputSchema, type SchemaSource, type ValueOf } from './schema.ts'
import type { SearchSettings } from './search/settings.ts'
import { servable } from './servable.ts'
import { memoryStore } from './stores/memory.ts'
import type { ActivationStore } from './stores/store.ts'

/** What a toolbox is, who sees what of it, and how its state is kept. */
export interface ToolboxOptions<G, F extends Facts = Facts, P extends Principal = Principal> {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly icons?: Implementation['icons']
  readonly websiteUrl?: string
  /** What the server is for; the first thing a model reads of it. */
  readonly about?: string
  /** Instructions for the model, instead of those made from `about` and the groups. */
  readonly instructions?: string
  /** What the server says of itself, for one that speaks for another and learns it later. Asked for whenever a client connects. */
  readonly introduce?: () => Introduction
  readonly groups?: G
  /**
   * One gate before everything: a fresh client sees `activate` and nothing else. Says what is behind it. Groups, if there are
   * any, lie behind it.
   */
  readonly gate?: string | { readonly about?: string /** Open from the start. */; readonly default?: boolean }
  readonly quota?: Quota
  /** How a call of a tool that is not shown is answered: as if it did not exist, with a hint, or by showing it. */
  readonly hiddenCalls?: HiddenCalls
  /**
   * How clients are presented the tools when their address does not ask otherwise: a mode, or a mode with its settings. Default:
   * `groups`. A function decides for each principal, when a session begins or a request arrives.
   */
  readonly exposure?: Wished | ExposureOptions | ((principal: P | undefined) => Wished | ExposureOptions)
  /** Which activators are listed: `all`, or (`stepwise`) those of groups inside others only once these are open. */
  readonly menu?: 'all' | 'stepwise'
  /** `exposure: 'lazy'`: a session-era client starts with `manage_tools` alone. */
  readonly lazy?: boolean
  /** The same as `budgetTokens` in `exposure`. */
  readonly budgetTokens?: number
  /** The same as `callVariants` in `exposure`. */
  readonly callVariants?: boolean
  /** The same as `hostHints` in `exposure`. */
  readonly hostHints?: boolean
  /** The same as `order` in `exposure`. */
  readonly order?: 'declared' | 'append'
  /** How many tools a page of the list holds; all by default. */
  readonly pageSize?: number
  /** World state for predicates, read once per computation. `LiveFacts` say themselves when they change. */
  readonly facts?: (() => F) | FactSource<F>
  /** How long to wait at least between two notices that facts caused, however fast they change; a second by default. */
  readonly noticeEveryMs?: number
  /** The tool that must have succeeded once in a session before the others are listed, but for those with `after: false`. */
  readonly after?: string
  /** `false` keeps `available_modes` and `data_counts` out of `_meta`, for clients that refuse what they do not know. */
  readonly counts?: boolean
  /**
   * What the identity of a list is made from: whole definitions by default, or `names` for names and descriptions alone.
   * `false` leaves identity out altogether.
   */
  readonly identity?: IdentityBasis | false
  /** Which tools exist for whom; a `PermitSource` is asked less often. */
  readonly permit?: ((principal: P | undefined, tool: Tool, place: Place) => boolean) | PermitSource<P>
  /**
   * How search goes beyond words: by meaning, by an order of your own, by what was called before. A function decides for each
   * principal, at every search; what an embedder has read of the tools is kept by its object, so return the same one.
   */
  readonly search?: SearchSettings<P> | ((principal: P | undefined) => SearchSettings<P>)
  /** How long what a client activated is kept, and for whom. A function decides for each principal, when it connects. */
  readonly remember?: Remember | ((principal: P | undefined) => Remember)
  readonly store?: ActivationStore
  readonly callTimeoutMs?: number
  /**
   * How long the reply to an activation waits for the client to list its tools again, so that the model can call the new tools
   * in its next turn. Default: 500 ms; 0 never waits.
   */
  readonly relistTimeoutMs?: number
  readonly hookTimeoutMs?: number
  /** How long a 2026-07-28 client may keep the list; by default as long as it cannot change by itself. */
  readonly ttlMs?: number
  /** `false` keeps the server from announcing changes of the list. */
  readonly listChanged?: boolean
  readonly limits?: Partial<MessageLimits>
  /**
   * Runs before every call of any tool, also of those that the exposure adds; the call waits for a promise that it returns. A
   * failure that it throws is the answer.
   */
  readonly admit?: (call: {
    readonly tool: string
    readonly scope: string
    readonly principal: P | undefined
  }) => void | Promise<void>
  /** Where things that the author should know of go; standard error by default. */
  readonly report?: Reporter
  /** The clock for learning whether a client lists again and what it calls after a search, in milliseconds. */
  readonly now?: () => number
}

/** What a server says of itself; what is left out is as the toolbox declares it. */
export interface Introduction {
  /** In place of `name`, `version`, `title`, `icons` and `websiteUrl`. */
  readonly info?: Implementation
  readonly about?: string
}

/** A tool as its author declares it. */
export interface ToolConfig<Name extends string, I, O, F extends Facts> {
  readonly about?: string
  readonly title?: string
  readonly input?: I
  readonly output?: O
  /** The group that shows it. Without one it is always shown, or behind the gate of a toolbox that has one. */
  readonly group?: Name
  /** Listed from the start, before a gate is opened and however the rest is shown. */
  readonly always?: boolean
  /** Whether it can be used at all now. */
  readonly when?: Predicate<F>
  /** The tool that must have succeeded once in a session before this one is listed; `false` for none, whatever the rest does. */
  readonly after?: string | false
  /**
   * This tool opens the named group, or (`true`) the gate where there is one, and otherwise changes what is open in a way of its
   * own; it is listed with the activators.
   */
  readonly activator?: Name | true
  readonly tags?: readonly string[]
  readonly version?: string
  /** Names it had before; calls by them still arrive. */
  readonly aliases?: readonly string[]
  readonly readOnly?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
  readonly openWorld?: boolean
  readonly annotations?: ToolAnnotations
  readonly icons?: Tool['icons']
  readonly timeoutMs?: number
  readonly _meta?: Tool['_meta']
}

export type AnyConfig = ToolConfig<string, SchemaSource | undefined, SchemaSource | undefined, Facts>

type InputOf<I> = [I] extends [undefined] ? Record<string, unknown> : ValueOf<I>

/** What a handler with this output schema gives back: the value itself, or a whole result. */
type ResultOf<O> = [O] extends [undefined] ? HandlerResult : Immutable<ValueOf<O>> | CallToolResult | InputRequiredResult

type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T

/** Groups whose parents, exclusions and needs are names declared beside them. */
export type GroupsOf<Name extends string> = { readonly [K in Name]: GroupOptions<NoInfer<Name>> }

/** Tools declared once, for every client of both protocol eras. Serve it with `serve`, `createHandler` or `listen`. */
export class Toolbox<Name extends string = string, F extends Facts = Facts, P extends Principal = Principal> implements Source {
  readonly name: string
  readonly #options: ToolboxOptions<unknown, F, P>
  readonly #entries: ToolEntry[] = []
  readonly #taken = new Set<string>()
  /** Which tool a name or a former name leads to. */
  readonly #owners = new Map<string, string>()
  readonly #extend: Extension[] = []
  readonly #listeners = new Set<(added?: ToolEntry) => void>()
  readonly #runtime: Runtime

  constructor(options: ToolboxOptions<unknown, F, P>) {
    this.name = options.name
    this.#options = options
    const runtime = new Runtime(declarationOf(options, { extend: this.#extend }), [this])
    this.#runtime = runtime
    servable(this, () => runtime)
  }

  /** Adds a tool. After the toolbox is served this shows it to whoever should see it. */
  tool<const I extends SchemaSource | undefined = undefined, const O extends SchemaSource | undefined = undefined>(
    name: string,
    config: ToolConfig<Name, I, O, F>,
    handler: (input: InputOf<I>, ctx: ToolContext<Name, F, P>) => ResultOf<O> | Promise<ResultOf<O>>,
  ): this {
    return this.#add(
      entryOf(this.name, name, config as unknown as AnyConfig, {
        handler: handler as unknown as ToolHandler,
        gated: this.#options.gate !== undefined,
      }),
    )
  }

  /** Adds a composite tool: one parameter chooses between modes, each with a handler, and only those with data are listed. */
  composite<const By extends string, const M extends ModeConfigs<F>, const C extends SchemaSource | undefined = undefined>(
    name: string,
    config: Omit<ToolConfig<Name, C, undefined, F>, 'output' | 'activator'> & CompositeConfig<By, M>,
    handlers: ModeHandlers<By, C, M, ToolContext<Name, F, P>>,
  ): this {
    const { by, policy = 'filtered', modes, input: common, ...rest } = config
    const plain = rest as unknown as AnyConfig
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

  /** Adds whatever a source provides, such as a `ToolRegistry`, and follows its changes. */
  use(source: Source): this {
    this.#runtime.addSource(source)
    return this
  }

  /**
   * Registers prompts, resources, completions, custom methods: all but tools, on each protocol server before it connects. It may
   * depend on whom that server is for.
   */
  extend(register: Extension): this {
    this.#extend.push(register)
    return this
  }

  /** Activates a group from outside a request: for a scope (`ctx.scope`), `principal:<id>`, or `all` that are connected. */
  activate(group: Name, scope: string): Promise<void> {
    return this.#runtime.changeFor(scope, 'activate', group)
  }

  deactivate(group: Name, scope: string): Promise<void> {
    return this.#runtime.changeFor(scope, 'deactivate', group)
  }

  /**
   * Whether a group is active, from outside a request: for a scope (`ctx.scope`) or `principal:<id>`; without one, for the only
   * client of a server over standard input and output.
   */
  isActive(group: Name, scope?: string): boolean {
    return this.#runtime.isActiveFor(group, scope)
  }

  /** Releases what hooks prepared, for everybody; the toolbox is not to be served after. `serve` does it by itself. */
  close(): Promise<void> {
    return this.#runtime.stop()
  }

  /** Reads predicates again; whoever's view changed is told. */
  toolListChanged(): void {
    this.#runtime.toolListChanged()
  }

  /** What a client that connects now would be listed first, and what everything it may have would be. */
  preview(client: PreviewOptions<P> = {}): Promise<Preview> {
    return previewOf(this.#runtime, client)
  }

  entries(): readonly ToolEntry[] {
    return this.#entries
  }

  subscribe(changed: (added?: ToolEntry) => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /** A name and a former name are one tool's alone; its versions share them. */
  #refuseSharedName({ tool: { name }, aliases }: ToolEntry): void {
    for (const each of [name, ...aliases]) {
      const owner = this.#owners.get(each) ?? name
      if (owner === name) continue
      const message = `In ${this.name} both "${name}" and "${owner}" go by the name "${each}". Rename one, or remove the alias.`
      throw new Failure('duplicate_name', message, { name: each, sources: [this.name] })
    }
  }
}

/** Declares a toolbox. Groups are written once, and tools are checked against them. */
export function defineToolbox<const Name extends string = never, F extends Facts = Facts, P extends Principal = Principal>(
  options: ToolboxOptions<GroupsOf<Name>, F, P>,
): Toolbox<Name, F, P> {
  return new Toolbox(options)
}

/** All that these options decide, with every default filled in; throws for a mixture that cannot be. */
export function declarationOf<F extends Facts, P extends Principal>(
  options: ToolboxOptions<unknown, F, P>,
  { extend = [], product }: { readonly extend?: Declaration['extend']; readonly product?: Declaration['product'] },
): Declaration {
  for (const what of ['pageSize', 'callTimeoutMs', 'hookTimeoutMs', 'noticeEveryMs'] as const) positive(what, options[what])
  if (typeof options.search === 'object') positive('search.deadlineMs', options.search.deadlineMs)
  const { name, version, title, icons, websiteUrl, introduce } = options
  const declared: Implementation = {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(icons !== undefined && { icons }),
    ...(websiteUrl !== undefined && { websiteUrl }),
  }
  const gate = typeof options.gate === 'string' ? { about: options.gate } : options.gate
  const behind = (options.groups ?? {}) as Declaration['groups']
  for (const group of Object.keys(behind)) checkGroupName(group)
  const groups = gate === undefined ? behind : { [gateName]: { title: title ?? name, ...gate }, ...behind }
  return {
    get info() {
      return introduce?.().info ?? declared
    },
    get about() {
      return introduce?.().about ?? options.about
    },
    instructions: options.instructions,
    groups,
    gated: options.gate !== undefined,
    quota: options.quota ?? {},
    hiddenCalls: options.hiddenCalls ?? 'opaque',
    presentation: presentationOf(options, typeof options.exposure === 'function' ? {} : (options.exposure ?? {})),
    exposureFor: typeof options.exposure === 'function' ? (options.exposure as Declaration['exposureFor']) : undefined,
    menu: options.menu ?? 'all',
    pageSize: options.pageSize,
    facts: options.facts,
    noticeEveryMs: options.noticeEveryMs ?? 1_000,
    after: options.after,
    counts: options.counts ?? true,
    identity: options.identity ?? 'definitions',
    permit: options.permit as Declaration['permit'],
    search: (options.search ?? {}) as Declaration['search'],
    remember: (options.remember as Declaration['remember'] | undefined) ?? 'session',
    store: options.store ?? memoryStore(),
    callTimeoutMs: options.callTimeoutMs ?? 300_000,
    relistTimeoutMs: options.relistTimeoutMs ?? 500,
    hookTimeoutMs: options.hookTimeoutMs ?? 30_000,
    ttlMs: options.ttlMs,
    listChanged: options.listChanged ?? true,
    messageLimits: { ...defaultMessageLimits, ...options.limits },
    admit: options.admit as Declaration['admit'],
    report: options.report ?? stderrReporter(),
    now: options.now ?? (() => performance.now()),
    extend,
    product,
  }
}

type PresentationOptions = Pick<ToolboxOptions<unknown>, 'lazy' | 'budgetTokens' | 'callVariants' | 'order' | 'hostHints'>

function presentationOf({ lazy, ...settings }: PresentationOptions, exposure: Wished | ExposureOptions): Presentation {
  const { budgetTokens, callVariants, order, hostHints } = settings
  const flat = { budgetTokens, callVariants, order, hostHints } as ExposureOptions
  const base: Presentation = { ...defaultPresentation, mode: lazy === true ? 'lazy' : 'groups' }
  return presentationWith(presentationWith(base, flat), exposure)
}

function positive(what: string, value: number | undefined): void {
  if (value === undefined || (Number.isInteger(value) && value > 0)) return
  throw new Failure('invalid_declaration', `${what} must be a whole number above 0, not ${value}.`, { what })
}

/** The entry for a declared tool. */
function entryOf(
  source: string,
  name: string,
  config: AnyConfig,
  {
    handler,
    gated,
    composite,
  }: { handler: ToolHandler; gated: boolean; composite?: { readonly modes: Modes; readonly input: InputSchema } },
): ToolEntry {
  const input = composite?.input ?? inputSchema(name, config.input)
  const output = config.output === undefined ? undefined : outputSchema(name, config.output)
  const isActivator = config.activator !== undefined
  if (typeof config.after === 'string' && (config.always === true || isActivator))
    throw new Failure(
      'invalid_declaration',
      `Tool "${name}" cannot both wait for "${config.after}" and be listed from the start.`,
      {
        what: `${name}.after`,
      },
    )
  const group = config.group ?? (gated && !isActivator && config.always !== true ? gateName : undefined)
  const opensGate = config.activator === true && gated && name !== 'deactivate'
  const activates = typeof config.activator === 'string' ? config.activator : opensGate ? gateName : undefined
  return {
    tool: withVersion(
      definitionOf(
        name,
        isActivator ? { ...config, _meta: { ...alwaysLoad, ...config._meta } } : config,
        input.json,
        output?.json,
      ),
      config.version,
    ),
    origin: isActivator ? 'surface' : 'static',
    source,
    visibility: { ...(group !== undefined && { group }), ...(config.when !== undefined && { when: config.when }) },
    tags: config.tags ?? [],
    aliases: config.aliases ?? [],
    handler,
    input,
    ...(config.version !== undefined && { version: config.version }),
    ...(activates !== undefined && { activates }),
    ...(isActivator && { isWritten: true }),
    ...(isActivator && gated && !opensGate && { within: gateName }),
    ...(config.always === true && { pinned: true }),
    ...(config.after !== undefined && { after: config.after }),
    ...(composite !== undefined && { modes: composite.modes }),
    ...(output !== undefined && { output }),
    ...(config.timeoutMs !== undefined && { timeoutMs: config.timeoutMs }),
  }
}

// Members stand in the order in which the SDK writes them, so that a plain toolbox lists the same bytes.
function definitionOf(
  name: string,
  config: ToolConfig<string, unknown, unknown, Facts>,
  input: Tool['inputSchema'],
  output: Tool['outputSchema'] | undefined,
): Tool {
  const annotations = annotationsOf(config)
  return {
    name,
    ...(config.title !== undefined && { title: config.title }),
    ...(config.about !== undefined && { description: config.about }),
    inputSchema: input,
    ...(annotations !== undefined && { annotations }),
    ...(config.icons !== undefined && { icons: config.icons }),
    ...(config._meta !== undefined && { _meta: config._meta }),
    ...(output !== undefined && { outputSchema: output }),
  }
}

function annotationsOf({
  annotations,
  readOnly,
  destructive,
  idempotent,
  openWorld,
}: ToolConfig<string, unknown, unknown, Facts>): ToolAnnotations | undefined {
  const made = {
    ...annotations,
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(openWorld !== undefined && { openWorldHint: openWorld }),
  }
  return Object.keys(made).length === 0 ? undefined : made
}
