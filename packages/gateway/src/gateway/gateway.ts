import { type Clock, systemClock } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import type { ActivationStore, RejectedCall } from '@unfold-mcp/server'
import { Access, type Client } from '../access/access.ts'
import { type ApprovalEvent, Approvals } from '../approvals/approvals.ts'
import { memoryApprovalStore } from '../approvals/memory-store.ts'
import type { ApprovalStore } from '../approvals/store.ts'
import type { Log } from '../base/log.ts'
import { measureTurn } from '../base/stopwatch.ts'
import { version } from '../base/version.ts'
import type { CallUpstream } from '../catalog/entries.ts'
import type { SelfDescription } from '../catalog/groups.ts'
import { UpstreamSource } from '../catalog/source.ts'
import { policyDigest } from '../config/policy/digest.ts'
import type { SandboxBase } from '../config/process/sandbox.ts'
import type { ReadConfig } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { upstreamConfig } from '../config/upstream.ts'
import { inspectCalls, inspectDocument } from '../inspection/inspected-calls.ts'
import type { InspectResult } from '../inspection/result-inspector.ts'
import { type CallHandler, composeMiddleware, type Middleware } from '../middleware/chain.ts'
import { PoisoningChecks } from '../poisoning/poisoning-checks.ts'
import { isSameProgram } from '../poisoning/same-program.ts'
import { collectSubjects } from '../poisoning/subjects.ts'
import { policyMiddleware } from '../policy/middleware.ts'
import { Policy } from '../policy/policy.ts'
import { UpstreamProxy } from '../proxy/proxy.ts'
import { releaseAtSessionEnd } from '../results/session-end.ts'
import { ResultStore } from '../results/store.ts'
import { truncateResults } from '../results/truncation.ts'
import type { CatalogStore } from '../stores/catalog.ts'
import { catalogKey } from '../stores/key.ts'
import { crossServerCheck } from '../trust/cross-server.ts'
import type { TrustSetting } from '../trust/decide.ts'
import { type TrustEvent, TrustGate } from '../trust/gate.ts'
import { memoryTrustStore } from '../trust/records/memory-store.ts'
import type { TrustStore } from '../trust/records/store.ts'
import { commandDigest } from '../trust/run.ts'
import { tlsKeyOf } from '../trust/tls-key.ts'
import { publicUrl } from '../upstreams/address.ts'
import { type Applied, Upstreams, type UpstreamsOptions } from '../upstreams/upstreams.ts'
import { computeSavings, type Savings } from './savings.ts'
import { type GatewayToolbox, Toolboxes } from './toolboxes.ts'

export interface GatewayOptions extends Pick<UpstreamsOptions, 'pace' | 'random' | 'open' | 'deferStartsUntil' | 'signIns'> {
  readonly read: ReadConfig
  /** Base folder for relative paths in the configuration. */
  readonly folder: string
  /** Added to the sandboxes of servers. */
  readonly sandboxBase?: SandboxBase
  /** Cache of the upstreams' definitions. The caller closes it. */
  readonly store: CatalogStore
  /** Decisions about what servers offer; default: memory. `unavailable`: they cannot be read, so nothing counts as accepted. */
  readonly trust?: TrustStore | 'unavailable'
  /**
   * Answers of people to calls that need approval; default: memory. `unavailable`: such calls are denied.
   * @internal
   */
  readonly approvals?: ApprovalStore | 'unavailable'
  /** Store for activated tools; default: memory. */
  readonly activations?: ActivationStore
  readonly log: Log
  /** Overrides lazy mode for all clients. */
  readonly lazy?: boolean
  readonly clock?: Clock
  /** Applied to every call; the first one is outermost. */
  readonly middleware?: readonly Middleware[]
  /** Inspects every result of a server before a client receives it. */
  readonly inspect?: InspectResult
  /** Called before every tool call; a failure that it throws is returned to the client. */
  readonly admit?: (call: { readonly scope: string; readonly share: string | undefined }) => void
  /** Called after a call that ended before it reached a server. */
  readonly rejected?: (call: RejectedCall<Client>) => void
  /** Called with decisions, and with new and changed definitions, each once. */
  readonly onTrust?: (event: TrustEvent) => void
  /**
   * Called when a call needs approval, and when its question is answered or expires.
   * @internal
   */
  readonly onApproval?: (event: ApprovalEvent) => void
  /** Removes known secrets from arguments that are shown to a person. */
  readonly redact?: (value: unknown) => unknown
  /** Called before any server is started, so that no event is missed. */
  readonly observe?: (upstreams: Upstreams) => void
}

/** Serves the tools, prompts and resources of many upstream servers as one, and follows their changes. */
export class Gateway implements AsyncDisposable {
  readonly upstreams: Upstreams
  /** @internal */
  readonly access: Access
  /** @internal */
  readonly toolboxes: Toolboxes
  /** @internal */
  readonly source: UpstreamSource
  /** @internal */
  readonly proxy: UpstreamProxy
  /** @internal */
  readonly poisoning: PoisoningChecks
  /** @internal */
  readonly trust: TrustGate
  /** @internal */
  readonly approvals: Approvals
  readonly #options: GatewayOptions
  /** Tools of new servers from the store, until the servers are created. */
  readonly #cachedTools = new Map<string, readonly Tool[]>()
  /** As the servers describe themselves. */
  readonly #descriptions = new Map<string, SelfDescription>()
  readonly #saving = new Set<Promise<void>>()
  readonly #results: ResultStore
  /** By client; cleared when tools or configuration change. */
  readonly #savings = new Map<Client | undefined, Promise<Savings>>()
  #read: ReadConfig
  #policy: Policy | undefined
  #applied: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined

  /** Opens a gateway and starts its servers. Resolves without waiting for them, with the cached tools. */
  static async open(options: GatewayOptions): Promise<Gateway> {
    const gateway = new Gateway(options)
    await gateway.apply(options.read)
    return gateway
  }

  private constructor(options: GatewayOptions) {
    const { read, clock, random, pace, open, deferStartsUntil, signIns, inspect, middleware = [] } = options
    const { config } = read
    this.#options = options
    this.#read = read
    this.#policy = policyOf(read, options.folder)
    this.access = new Access(config, {
      toolsOf: (server) => this.source.entriesOf(server).map(({ tool }) => tool.name),
      lazy: options.lazy,
    })
    const { trust = memoryTrustStore() } = options
    const crossServer = crossServerCheck(() => this.#toolNames())
    this.trust = new TrustGate({
      settingOf: (server) => this.#trustSetting(server),
      store: trust === 'unavailable' ? undefined : trust,
      changed: (server) => this.#readmit(server),
      onChange: (event) => options.onTrust?.(event),
      crossServer,
      clock: clock ?? systemClock,
      log: options.log,
    })
    const { approvals = memoryApprovalStore() } = options
    this.approvals = new Approvals({
      store: approvals === 'unavailable' ? undefined : approvals,
      definitionOf: (server, tool) => this.upstreams.get(server)?.tools.find(({ name }) => name === tool),
      policyDigest: () => policyDigest(this.config),
      timeoutMs: () => this.config.policy?.approvalTimeoutMs ?? 0,
      redact: options.redact ?? ((value) => value),
      onEvent: (event) => options.onApproval?.(event),
      clock: clock ?? systemClock,
    })
    this.upstreams = new Upstreams({
      isPinned: (server) => ['pin', 'review'].includes(this.#trustSetting(server)),
      cachedTools: (name) => this.#cachedTools.get(name),
      connect: { clientInfo: { name: 'unfold-gateway', title: 'Unfold gateway', version }, relays: true },
      ...(clock !== undefined && { clock }),
      ...(random !== undefined && { random }),
      ...(pace !== undefined && { pace }),
      ...(open !== undefined && { open }),
      ...(signIns !== undefined && { signIns }),
      ...(deferStartsUntil !== undefined && { deferStartsUntil }),
    })
    this.proxy = new UpstreamProxy({
      config,
      upstreams: this.upstreams,
      access: this.access,
      clock: clock ?? systemClock,
      random: random ?? Math.random,
      pace,
      log: options.log,
      admit: (server, documents) => {
        const prompts = this.trust.admit(server, 'prompt', documents.prompts, ({ name }) => name)
        const templates = this.trust.admit(server, 'template', documents.templates, ({ uriTemplate }) => uriTemplate)
        return this.trust.isHeld(server) ? undefined : { prompts, templates, resources: documents.resources }
      },
      isServed: (server, tool) => this.source.isServed(server, tool),
      listed: (server) => this.trust.settle(server, ['prompt', 'template']),
      inspect: (upstream, what, result) =>
        inspect === undefined ? Promise.resolve(result) : inspectDocument(inspect, { upstream, what }, result),
      save: (upstream, documents) => {
        this.poisoning.invalidate(upstream)
        this.#save(upstream, (key) => options.store.replaceDocuments(key, documents))
      },
    })
    this.poisoning = new PoisoningChecks({
      subjects: () => collectSubjects(this.config, this.source, this.proxy),
      isSameProgram: (...servers) => {
        const [one, other] = servers.map((server) => this.config.mcpServers[server])
        return one !== undefined && other !== undefined && isSameProgram(one, other)
      },
      charge: (server, ms) => this.#charge(server, ms),
      clock: clock ?? systemClock,
      log: options.log,
    })
    this.#results = new ResultStore(clock ?? systemClock)
    const truncate = truncateResults({
      store: this.#results,
      maxCharacters: () => this.config.results.maxCharacters,
      hasOutputSchema: (upstream, tool) => this.source.toolOf(upstream, tool)?.outputSchema !== undefined,
    })
    // Innermost, so that nothing reaches a server without a verdict.
    const policy = policyMiddleware({
      decide: ({ upstream: server, tool, input, client }) =>
        this.#policy?.decide({ server, tool, input, client, definition: () => this.source.toolOf(server, tool) }),
      ask: this.approvals.ask,
    })
    const callUpstream = composeMiddleware(
      [truncate, ...(inspect === undefined ? [] : [inspectCalls(inspect)]), ...middleware, policy],
      this.proxy.call,
    )
    this.source = new UpstreamSource(config, {
      callOf: (server) => this.#callOf(server, callUpstream),
      admit: (server, tools) => this.trust.admit(server, 'tool', tools, ({ name }) => name),
    })
    this.toolboxes = new Toolboxes({
      config: () => this.config,
      access: this.access,
      isDenied: (client, server, definition) => this.#isDenied(client, server, definition),
      source: this.source,
      proxy: this.proxy,
      results: this.#results,
      releaseResults: releaseAtSessionEnd(this.#results),
      activations: options.activations,
      admit: options.admit,
      rejected: options.rejected,
      log: options.log,
    })
    this.source.subscribe(() => {
      this.#savings.clear()
      this.poisoning.invalidate()
    })
    this.#follow()
    options.observe?.(this.upstreams)
  }

  /** Number and size of the truncated results that are stored. */
  get storedResults(): ResultStore['size'] {
    return this.#results.size
  }

  get config(): Config {
    return this.#read.config
  }

  /** All servers as one toolbox. */
  get toolbox(): GatewayToolbox {
    return this.toolboxes.all
  }

  /** Servers that are not started because their configuration is incomplete. */
  get notStarted(): ReadConfig['notStarted'] {
    return this.#read.notStarted
  }

  /** Token cost of all tools and of the list that a client gets when it connects. Cached until something changes. */
  savings(client?: Client): Promise<Savings> {
    const cached = this.#savings.get(client)
    if (cached !== undefined) return cached
    const savings = computeSavings(this.toolboxes.of(client), client)
    this.#savings.set(client, savings)
    savings.catch(() => this.#savings.delete(client))
    return savings
  }

  /** Applies a configuration after earlier ones have been applied. Servers that it does not change keep running. */
  apply(read: ReadConfig): Promise<Applied> {
    const applied = this.#applied.then(() => this.#apply(read))
    this.#applied = applied.catch(() => undefined)
    return applied
  }

  async #apply(read: ReadConfig): Promise<Applied> {
    const before = this.#read
    const { config } = read
    await this.trust.load(Object.keys(config.mcpServers))
    await this.#loadCached(config)
    const { folder, store, sandboxBase } = this.#options
    this.#read = read
    this.#policy = policyOf(read, folder)
    this.access.configure(config)
    const { processes, sandbox } = config
    const configs = Object.entries(config.mcpServers).map(
      ([name, server]) => [name, upstreamConfig(server, { folder, processes, sandbox, sandboxBase })] as const,
    )
    const applying = this.upstreams.apply(Object.fromEntries(configs))
    // Cached tools of new servers are served immediately.
    const toolsOf = (server: string): readonly Tool[] => this.upstreams.get(server)?.tools ?? this.#cachedTools.get(server) ?? []
    this.source.configure(config, toolsOf)
    this.proxy.configure(config)
    const applied = await applying
    this.#cachedTools.clear()
    this.source.configure(config, toolsOf)
    // A changed setting applies to instructions too.
    for (const name of this.#descriptions.keys())
      if (!Object.hasOwn(config.mcpServers, name)) this.#descriptions.delete(name)
      else if (before !== read) this.#readmit(name)
    await this.toolboxes.reconfigure()
    for (const name of [...applied.removed, ...applied.replaced]) {
      const [old, next] = [before, read].map(({ config: { mcpServers } }) => mcpServers[name])
      if (old === undefined || (next !== undefined && catalogKey(name, old) === catalogKey(name, next))) continue
      await store.remove(catalogKey(name, old)).catch(() => undefined)
    }
    return applied
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.approvals.close()
    this.proxy.close()
    this.poisoning.close()
    await this.upstreams.close()
    await this.toolboxes.close()
    this.#results.close()
    await this.trust.close()
    await Promise.all(this.#saving)
  }

  /** True if the policy denies a tool to a client with any arguments. */
  #isDenied(client: Client | undefined, server: string, definition: Tool): boolean {
    const tool = this.source.originalName(server, definition.name)
    if (this.#policy === undefined || tool === undefined) return false
    return this.#policy.denies({ server, tool, client, definition: () => definition })
  }

  #callOf(upstream: string, callUpstream: CallHandler): CallUpstream {
    return (tool, input, ctx) =>
      callUpstream({
        upstream,
        tool,
        input: (input ?? {}) as Record<string, unknown>,
        client: ctx.principal,
        ctx,
      })
  }

  #follow(): void {
    const { events } = this.upstreams
    events.on('tools', ({ upstream, tools, reads }) => {
      this.poisoning.invalidate(upstream)
      this.source.replace(upstream, tools)
      // The lists of connected clients are rendered and compared in a timer that was set just now.
      measureTurn((ms) => this.#charge(upstream, ms))
      // Without a read, the list is empty because the server is disconnected.
      if (reads > 0) this.#saveTools(upstream)
    })
    events.on('listed', ({ upstream }) => {
      this.#saveTools(upstream)
      this.trust.settle(upstream, ['tool', 'instructions'])
    })
    events.on('connected', ({ upstream }) => {
      const connection = this.upstreams.get(upstream)?.connection
      if (connection === undefined) return
      const { server, instructions } = connection
      this.#describe(upstream, { title: server.title ?? server.name, instructions, info: server })
      void this.#recordRun(upstream, `${server.name} ${server.version}`)
    })
  }

  async #recordRun(upstream: string, reported: string): Promise<void> {
    const target = this.upstreams.get(upstream)?.config.target
    if (target === undefined) return
    const command = 'command' in target ? commandDigest(target.command, target.args ?? []) : undefined
    const url = 'url' in target ? publicUrl(target.url) : undefined
    this.trust.ran(upstream, { version: reported, ...(command !== undefined && { command }), ...(url !== undefined && { url }) })
    const tlsKey = 'url' in target ? await tlsKeyOf(target.url) : undefined
    if (tlsKey !== undefined) this.trust.ran(upstream, { tlsKey })
  }

  /** Sets the self-description of a server, with the instructions only if clients may see them. */
  #describe(server: string, description: SelfDescription): void {
    this.#descriptions.set(server, description)
    const { instructions } = description
    const definitions = instructions === undefined ? [] : [{ instructions }]
    const [admitted] = this.trust.admit(server, 'instructions', definitions, () => '')
    this.source.describe(server, { ...description, instructions: admitted?.instructions })
    this.source.readmit(server)
    this.proxy.readmit(server)
  }

  /** Applies a decision about a server. */
  #readmit(server: string): void {
    const description = this.#descriptions.get(server)
    if (description !== undefined) this.#describe(server, description)
    else {
      this.source.readmit(server)
      this.proxy.readmit(server)
    }
  }

  #trustSetting(server: string): TrustSetting {
    return this.config.mcpServers[server]?.trust ?? this.config.trust
  }

  /** Names of the tools of each server, as the servers have them. */
  #toolNames(): ReadonlyMap<string, readonly string[]> {
    return new Map(this.upstreams.names.map((name) => [name, this.upstreams.get(name)?.tools.map((tool) => tool.name) ?? []]))
  }

  /** Adds to the cost of following a server. */
  #charge(server: string, ms: number): void {
    this.upstreams.get(server)?.followBudget.charge(ms)
  }

  /** Loads the cached definitions of new servers. */
  async #loadCached({ mcpServers }: Config): Promise<void> {
    const { store } = this.#options
    const existing = this.upstreams.names
    const added = Object.entries(mcpServers).filter(([name, { disabled }]) => !disabled && !existing.includes(name))
    await Promise.all(
      added.map(async ([name, server]) => {
        const key = catalogKey(name, server)
        const cached = await store.load(key).catch(() => undefined)
        const documents = await store.documents(key).catch(() => undefined)
        // A known server without stored documents has none, so clients need not wait for it.
        this.proxy.restore(name, documents ?? (cached === undefined ? undefined : {}))
        if (cached === undefined) return
        this.#cachedTools.set(name, cached.tools)
        const { instructions, info } = cached
        this.#describe(name, { title: info?.title ?? info?.name, instructions, info })
      }),
    )
  }

  #saveTools(upstream: string): void {
    const tools = this.upstreams.get(upstream)?.tools
    if (tools === undefined) return
    const { instructions, info } = this.#descriptions.get(upstream) ?? {}
    const details = { ...(instructions !== undefined && { instructions }), ...(info !== undefined && { info }) }
    this.#save(upstream, (key) => this.#options.store.replaceTools(key, tools, details))
  }

  #save(upstream: string, write: (key: string) => Promise<void>): void {
    const server = this.config.mcpServers[upstream]
    if (server === undefined) return
    const { log } = this.#options
    const saving = write(catalogKey(upstream, server))
      .catch((error: unknown) => log.warn({ upstream, error }, 'definitions could not be cached'))
      .finally(() => this.#saving.delete(saving))
    this.#saving.add(saving)
  }
}

const policyOf = ({ config: { policy } }: ReadConfig, folder: string): Policy | undefined =>
  policy === undefined ? undefined : new Policy(policy, folder)
