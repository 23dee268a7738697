import { type Clock, systemClock } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import type { ActivationStore, RejectedCall, ScriptRunRecord } from '@unfold-mcp/server'
import { Access, type Client } from '../access/access.ts'
import { type ApprovalEvent, Approvals } from '../approvals/approvals.ts'
import { memoryApprovalStore } from '../approvals/memory-store.ts'
import type { ApprovalStore } from '../approvals/store.ts'
import type { Log } from '../base/log.ts'
import type { Replica } from '../base/replica.ts'
import { measureTurn } from '../base/stopwatch.ts'
import { version } from '../base/version.ts'
import { UpstreamSource } from '../catalog/source.ts'
import { policyDigest } from '../config/policy/digest.ts'
import { defaultApprovalTimeoutMs } from '../config/policy/schema.ts'
import { type ConfigProblem, problemLine } from '../config/problem.ts'
import type { SandboxBase } from '../config/process/sandbox.ts'
import type { ReadConfig } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { upstreamConfig } from '../config/upstream.ts'
import { inspectDocument } from '../inspection/inspected-calls.ts'
import type { InspectResult } from '../inspection/result-inspector.ts'
import type { Middleware } from '../middleware/chain.ts'
import { PoisoningChecks } from '../poisoning/poisoning-checks.ts'
import { isSameProgram } from '../poisoning/same-program.ts'
import { collectSubjects } from '../poisoning/subjects.ts'
import { Policy } from '../policy/policy.ts'
import { UpstreamProxy } from '../proxy/proxy.ts'
import type { ResumeAt } from '../proxy/suspended-request.ts'
import { releaseAtSessionEnd } from '../results/session-end.ts'
import { ResultStore, type SharedResults } from '../results/store.ts'
import { gatewayConsent, type OwnTool } from '../scripts/consent.ts'
import type { ScriptStorage } from '../scripts/storage.ts'
import { StoredScripts } from '../scripts/stored-scripts.ts'
import type { CatalogStore } from '../stores/catalog.ts'
import { catalogKey } from '../stores/key.ts'
import { crossServerCheck } from '../trust/cross-server.ts'
import type { TrustSetting } from '../trust/decide.ts'
import { type TrustEvent, TrustGate } from '../trust/gate.ts'
import { memoryTrustStore } from '../trust/records/memory-store.ts'
import type { TrustStore } from '../trust/records/store.ts'
import { type Applied, Upstreams, type UpstreamsOptions } from '../upstreams/upstreams.ts'
import { Admission } from './admission.ts'
import { callPipeline } from './call-pipeline.ts'
import { DefinitionCache } from './definition-cache.ts'
import { ListUsage } from './list-usage.ts'
import { recordRun } from './run-record.ts'
import { type Savings, SavingsCache } from './savings.ts'
import { type GatewayToolbox, Toolboxes } from './toolboxes.ts'

export interface GatewayOptions
  extends Pick<UpstreamsOptions, 'pace' | 'random' | 'open' | 'deferStartsUntil' | 'signIns' | 'placement' | 'reads'> {
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
  /**
   * Results that all replicas can read; default: each process has its own.
   * @internal
   */
  readonly results?: SharedResults
  /**
   * Continues paused scripts after a restart; default: they end with the process.
   * @internal
   */
  readonly scripts?: ScriptStorage
  /** Called when a script ends or pauses. */
  readonly scriptRan?: (run: ScriptRunRecord) => void
  /** Store for activated tools; default: memory. */
  readonly activations?: ActivationStore
  /**
   * This process as one of several replicas; default: it is the only one.
   * @internal
   */
  readonly replica?: Replica
  /**
   * Continues a request at the replica that has it open.
   * @internal
   */
  readonly resumeAt?: ResumeAt
  readonly log: Log
  /** Overrides lazy mode for all clients. */
  readonly lazy?: boolean
  readonly clock?: Clock
  /** Applied to every call; the first one is outermost. */
  readonly middleware?: readonly Middleware[]
  /** Inspects every result of a server before a client receives it. */
  readonly inspect?: InspectResult
  /** Called before every tool call; a failure that it throws is returned to the client. */
  readonly admit?: (call: { readonly scope: string; readonly share: string | undefined }) => void | Promise<void>
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
  readonly #admission: Admission
  readonly #cache: DefinitionCache
  readonly #results: ResultStore
  readonly #savings: SavingsCache
  readonly #scripts: StoredScripts
  /**
   * Tokens of the lists that clients were sent.
   * @internal
   */
  readonly lists = new ListUsage()
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
    const { read, log, pace, open, deferStartsUntil, signIns, placement, reads, inspect, middleware = [] } = options
    const { clock = systemClock, random = Math.random } = options
    const { config } = read
    this.#options = options
    this.#read = read
    this.#policy = policyOf(read, options.folder)
    this.#cache = new DefinitionCache({ store: options.store, config: () => this.config, log })
    this.access = new Access(config, {
      toolsOf: (server) => this.source.entriesOf(server).map(({ tool }) => tool.name),
      lazy: options.lazy,
    })
    const { trust = memoryTrustStore() } = options
    this.trust = new TrustGate({
      settingOf: (server) => this.#trustSetting(server),
      store: trust === 'unavailable' ? undefined : trust,
      changed: (server) => this.#admission.readmit(server),
      onChange: (event) => options.onTrust?.(event),
      crossServer: crossServerCheck(() => this.#toolNames()),
      clock,
      log,
    })
    this.#admission = new Admission({ trust: this.trust, source: () => this.source, proxy: () => this.proxy })
    const { approvals = memoryApprovalStore() } = options
    this.approvals = new Approvals({
      store: approvals === 'unavailable' ? undefined : approvals,
      definitionOf: (server, tool) => this.upstreams.get(server)?.tools.find(({ name }) => name === tool),
      policyDigest: () => policyDigest(this.config),
      timeoutMs: () => this.config.policy?.approvalTimeoutMs ?? defaultApprovalTimeoutMs,
      redact: options.redact ?? ((value) => value),
      onEvent: (event) => options.onApproval?.(event),
      replica: options.replica,
      clock: sharedClock(clock, options.replica),
    })
    this.upstreams = new Upstreams({
      isPinned: (server) => ['pin', 'review'].includes(this.#trustSetting(server)),
      cachedTools: (name) => this.#cache.tools(name),
      connect: { clientInfo: { name: 'unfold-gateway', title: 'Unfold gateway', version }, relays: true },
      clock,
      random,
      ...(pace !== undefined && { pace }),
      ...(open !== undefined && { open }),
      ...(signIns !== undefined && { signIns }),
      ...(placement !== undefined && { placement }),
      ...(reads !== undefined && { reads }),
      ...(deferStartsUntil !== undefined && { deferStartsUntil }),
    })
    this.proxy = new UpstreamProxy({
      config,
      upstreams: this.upstreams,
      access: this.access,
      clock,
      random,
      pace,
      log,
      replica: options.replica,
      resumeAt: options.resumeAt,
      admit: (server, documents) => this.#admission.documents(server, documents),
      isServed: (server, tool) => this.source.isServed(server, tool),
      listed: (server) => this.trust.settle(server, ['prompt', 'template']),
      inspect: (upstream, what, result) =>
        inspect === undefined ? Promise.resolve(result) : inspectDocument(inspect, { upstream, what }, result),
      save: (upstream, documents) => {
        this.poisoning.invalidate(upstream)
        this.#cache.save(upstream, (store, key) => store.replaceDocuments(key, documents))
      },
    })
    this.poisoning = new PoisoningChecks({
      subjects: () => collectSubjects(this.config, this.source, this.proxy),
      isSameProgram: (...servers) => {
        const [one, other] = servers.map((server) => this.config.mcpServers[server])
        return one !== undefined && other !== undefined && isSameProgram(one, other)
      },
      charge: (server, ms) => this.#charge(server, ms),
      clock,
      log,
    })
    this.#results = new ResultStore(clock, {}, options.results)
    const call = callPipeline({
      results: this.#results,
      config: () => this.config,
      source: () => this.source,
      inspect,
      middleware,
      decide: ({ upstream: server, tool, input, client }) =>
        this.#policy?.decide({ server, tool, input, client, definition: () => this.source.toolOf(server, tool) }),
      ask: this.approvals.ask,
      send: (proxied) => this.#scripts.run(proxied, this.source, this.config) ?? this.proxy.call(proxied),
    })
    this.source = new UpstreamSource(config, {
      callOf: (upstream) => (tool, input, ctx) =>
        call({ upstream, tool, input: (input ?? {}) as Record<string, unknown>, client: ctx.principal, ctx }),
      admit: (server, tools) => this.#admission.tools(server, tools),
    })
    this.toolboxes = new Toolboxes({
      config: () => this.config,
      access: this.access,
      isDenied: (client, server, definition) => this.isDenied(client, server, definition),
      source: this.source,
      proxy: this.proxy,
      results: this.#results,
      // A session that ends here may continue on another replica; its results expire.
      releaseResults: options.replica?.isShared === true ? () => undefined : releaseAtSessionEnd(this.#results),
      activations: options.activations,
      admit: options.admit,
      rejected: options.rejected,
      listed: this.lists.record,
      log,
      scripts: options.scripts,
      scriptRan: options.scriptRan,
      consent: (toolOf) =>
        gatewayConsent(
          {
            decide: ({ server, tool, input, client }) =>
              this.#policy?.decide({ server, tool, input, client, definition: () => this.source.toolOf(server, tool) }),
            isAccepted: (own) => this.#isAccepted(own),
            redact: options.redact ?? ((value) => value),
          },
          toolOf,
        ),
    })
    this.#scripts = new StoredScripts({
      folder: options.folder,
      onProblem: (problem) => log.warn({ problem }, `script not used: ${problemLine(problem)}`),
    })
    this.#savings = new SavingsCache(this.toolboxes)
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
    return this.#savings.of(client)
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
    const { folder, sandboxBase } = this.#options
    this.#read = read
    this.#policy = policyOf(read, folder)
    this.access.configure(config)
    const { processes, sandbox } = config
    const scripts = await this.#scripts.open(config)
    const configs = Object.entries(config.mcpServers).map(
      ([name, server]) =>
        [
          name,
          upstreamConfig(server, { folder, ...(scripts !== undefined && { scripts }), processes, sandbox, sandboxBase }),
        ] as const,
    )
    const applying = this.upstreams.apply(Object.fromEntries(configs))
    // Cached tools of new servers are served immediately.
    const toolsOf = (server: string): readonly Tool[] => this.upstreams.get(server)?.tools ?? this.#cache.tools(server) ?? []
    this.source.configure(config, toolsOf)
    this.proxy.configure(config)
    const applied = await applying
    this.#cache.releaseTools()
    this.source.configure(config, toolsOf)
    // A changed setting applies to instructions too.
    if (before !== read) this.#admission.configure(config)
    await this.toolboxes.reconfigure()
    await this.#cache.remove([...applied.removed, ...applied.replaced], before.config, config)
    return applied
  }

  /**
   * Lists the tools of a connected server again, by its key in the catalogue: another replica stored a list that may be newer.
   * @internal
   */
  listAgain(key: string): void {
    const [name = ''] = Object.entries(this.config.mcpServers).find(([each, server]) => catalogKey(each, server) === key) ?? []
    const upstream = this.upstreams.get(name)
    if (upstream?.connection !== undefined) void upstream.discover().catch(() => undefined)
  }

  /** Problems of the stored scripts as they are now. */
  get scriptProblems(): readonly ConfigProblem[] {
    return this.#scripts.problems
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
    await this.#scripts.close()
    await this.toolboxes.close()
    this.#results.close()
    await this.trust.close()
    await this.#cache.saved()
  }

  /**
   * True if the policy denies a tool to a client with any arguments.
   * @internal
   */
  isDenied(client: Client | undefined, server: string, definition: Tool): boolean {
    const tool = this.source.originalName(server, definition.name)
    if (this.#policy === undefined || tool === undefined) return false
    return this.#policy.denies({ server, tool, client, definition: () => definition })
  }

  #isAccepted({ server, tool }: OwnTool): boolean {
    const definition = this.upstreams.get(server)?.tools.find(({ name }) => name === tool)
    return definition !== undefined && this.trust.isAccepted(server, { kind: 'tool', name: tool, definition })
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
      const { connection, config } = this.upstreams.get(upstream) ?? {}
      if (connection === undefined || config === undefined) return
      const { server, instructions } = connection
      this.#admission.describe(upstream, { title: server.title ?? server.name, instructions, info: server })
      void recordRun(this.trust, upstream, config.target, `${server.name} ${server.version}`)
    })
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

  #loadCached(config: Config): Promise<void> {
    return this.#cache.load(config, this.upstreams.names, (name, cached, documents) => {
      // A known server without stored documents has none, so clients need not wait for it.
      this.proxy.restore(name, documents ?? (cached === undefined ? undefined : {}))
      if (cached === undefined) return
      const { instructions, info } = cached
      this.#admission.describe(name, { title: info?.title ?? info?.name, instructions, info })
    })
  }

  #saveTools(upstream: string): void {
    const tools = this.upstreams.get(upstream)?.tools
    if (tools === undefined) return
    const { instructions, info } = this.#admission.description(upstream) ?? {}
    const details = { ...(instructions !== undefined && { instructions }), ...(info !== undefined && { info }) }
    this.#cache.save(upstream, (store, key) => store.replaceTools(key, tools, details))
  }
}

/** Approvals expire at the same moment on all replicas. */
const sharedClock = (clock: Clock, replica: Replica | undefined): Clock =>
  replica === undefined
    ? clock
    : {
        now: () => clock.now(),
        wallTime: () => clock.wallTime() + replica.clockOffsetMs(),
        after: (ms, run, isIdle) => clock.after(ms, run, isIdle),
      }

const policyOf = ({ config: { policy } }: ReadConfig, folder: string): Policy | undefined =>
  policy === undefined ? undefined : new Policy(policy, folder)
