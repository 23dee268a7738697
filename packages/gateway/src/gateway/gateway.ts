import { type Clock, systemClock } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import type { ActivationStore } from '@unfold-mcp/server'
import { Access, type Client } from '../access/access.ts'
import type { Log } from '../base/log.ts'
import { version } from '../base/version.ts'
import type { CallUpstream } from '../catalog/entries.ts'
import { UpstreamSource } from '../catalog/source.ts'
import type { ReadConfig } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { upstreamConfig } from '../config/upstream.ts'
import { composeMiddleware, type Middleware, type CallHandler } from '../middleware/chain.ts'
import { PoisoningChecks } from '../poisoning/poisoning-checks.ts'
import { isSameProgram } from '../poisoning/same-program.ts'
import { collectSubjects } from '../poisoning/subjects.ts'
import { UpstreamProxy } from '../proxy/proxy.ts'
import { ResultStore } from '../results/store.ts'
import { truncateResults } from '../results/truncation.ts'
import type { CatalogStore } from '../stores/catalog.ts'
import { catalogKey } from '../stores/key.ts'
import { type Applied, Upstreams, type UpstreamsOptions } from '../upstreams/upstreams.ts'
import { type Savings, computeSavings } from './savings.ts'
import { type GatewayToolbox, Toolboxes } from './toolboxes.ts'

export interface GatewayOptions extends Pick<UpstreamsOptions, 'pace' | 'random' | 'open' | 'deferStartsUntil' | 'signIns'> {
  readonly read: ReadConfig
  /** The folder from which paths in the configuration are seen. */
  readonly folder: string
  /** Where the tools are kept that were known last. Whoever opened it closes it. */
  readonly store: CatalogStore
  /** Where it is kept what clients activated, for as long as `remember` says; memory by default. */
  readonly activations?: ActivationStore
  readonly log: Log
  /** StartQueue every client lazily, or none, in place of what the configuration says. */
  readonly lazy?: boolean
  readonly clock?: Clock
  /** What happens to every call, the first outermost. */
  readonly middleware?: readonly Middleware[]
  /** Asked before every call of any tool; a failure that it throws is the answer. */
  readonly admit?: (call: { readonly scope: string; readonly principal: Client | undefined }) => void
  /** Is shown the servers before any of them is started, so that nothing that happens to them is missed. */
  readonly observe?: (upstreams: Upstreams) => void
}

/** Many servers behind one: a toolbox whose tools are those of the upstreams, and follow every change of theirs. */
export class Gateway implements AsyncDisposable {
  readonly upstreams: Upstreams
  readonly access: Access
  /** What is served. */
  readonly toolboxes: Toolboxes
  readonly source: UpstreamSource
  /** What passes through beside the list of tools. */
  readonly proxy: UpstreamProxy
  /** What looks as if it were meant to deceive a model. */
  readonly findings: PoisoningChecks
  readonly #options: GatewayOptions
  readonly #known = new Map<string, readonly Tool[]>()
  readonly #saving = new Set<Promise<void>>()
  readonly #results: ResultStore
  /** What each client saves, for as long as the tools and the configuration stay as they are. */
  readonly #savings = new Map<Client | undefined, Promise<Savings>>()
  #read: ReadConfig
  #turn: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined

  /** StartQueue what the configuration names. Resolves at once with the tools that were known last; servers come as they are ready. */
  static async open(options: GatewayOptions): Promise<Gateway> {
    const gateway = new Gateway(options)
    await gateway.apply(options.read)
    return gateway
  }

  private constructor(options: GatewayOptions) {
    const { read, clock, random, pace, open, deferStartsUntil, signIns, middleware = [] } = options
    const { config } = read
    this.#options = options
    this.#read = read
    this.access = new Access(config, {
      toolsOf: (server) => this.source.entriesOf(server).map(({ tool }) => tool.name),
      lazy: options.lazy,
    })
    this.upstreams = new Upstreams({
      known: (name) => this.#known.get(name),
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
      keep: (upstream, kept) => {
        this.findings.changed()
        this.#keep(upstream, (key) => options.store.replaceDocuments(key, kept))
      },
    })
    this.findings = new PoisoningChecks({
      subjects: () => collectSubjects(this.config, this.source, this.proxy),
      isSame: (...servers) => {
        const [one, other] = servers.map((server) => this.config.mcpServers[server])
        return one !== undefined && other !== undefined && isSameProgram(one, other)
      },
      clock: clock ?? systemClock,
      log: options.log,
    })
    this.#results = new ResultStore(clock ?? systemClock)
    const cut = truncateResults({
      store: this.#results,
      maxCharacters: () => this.config.results.maxCharacters,
      promisesStructure: (upstream, tool) => this.source.toolOf(upstream, tool)?.outputSchema !== undefined,
    })
    const pass = composeMiddleware([cut, ...middleware], this.proxy.call)
    this.source = new UpstreamSource(config, (server) => this.#callOf(server, pass))
    this.toolboxes = new Toolboxes({
      config: () => this.config,
      access: this.access,
      source: this.source,
      proxy: this.proxy,
      results: this.#results,
      activations: options.activations,
      admit: options.admit,
      log: options.log,
    })
    this.source.subscribe(() => {
      this.#savings.clear()
      this.findings.changed()
    })
    this.#follow()
    options.observe?.(this.upstreams)
  }

  get config(): Config {
    return this.#read.config
  }

  /** All servers as one; every way of serving a toolbox serves this one. */
  get toolbox(): GatewayToolbox {
    return this.toolboxes.all
  }

  /** Servers that cannot be used until what they need is there. */
  get held(): ReadConfig['held'] {
    return this.#read.held
  }

  /** What the whole list would cost a client, and what it is listed when it connects. Computed once until something changes. */
  savings(client?: Client): Promise<Savings> {
    const known = this.#savings.get(client)
    if (known !== undefined) return known
    const made = computeSavings(this.toolboxes.of(client), client)
    this.#savings.set(client, made)
    made.catch(() => this.#savings.delete(client))
    return made
  }

  /** Makes this the configuration, after those that were given before. Only the servers that it touches are touched. */
  apply(read: ReadConfig): Promise<Applied> {
    const turn = this.#turn.then(() => this.#apply(read))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #apply(read: ReadConfig): Promise<Applied> {
    const before = this.#read
    const { config } = read
    await this.#remember(config)
    this.#read = read
    this.access.configure(config)
    const { folder, store } = this.#options
    const configs = Object.entries(config.mcpServers).map(([name, server]) => [name, upstreamConfig(server, folder)] as const)
    const applying = this.upstreams.apply(Object.fromEntries(configs))
    // What is known of new ones is served at once; those that end are waited for.
    const toolsOf = (server: string): readonly Tool[] => this.upstreams.get(server)?.tools ?? this.#known.get(server) ?? []
    this.source.configure(config, toolsOf)
    this.proxy.configure(config)
    const applied = await applying
    // From here on each server has its own.
    this.#known.clear()
    this.source.configure(config, toolsOf)
    await this.toolboxes.reconfigured()
    for (const name of [...applied.removed, ...applied.replaced]) {
      const [old, next] = [before, read].map(({ config: { mcpServers } }) => mcpServers[name])
      if (old === undefined || (next !== undefined && catalogKey(name, old) === catalogKey(name, next))) continue
      await store.remove(catalogKey(name, old)).catch(() => undefined)
    }
    return applied
  }

  /** Ends everything that was started. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.proxy.close()
    this.findings.close()
    await this.upstreams.close()
    await this.toolboxes.close()
    this.#results.close()
    await Promise.all(this.#saving)
  }

  #callOf(upstream: string, pass: CallHandler): CallUpstream {
    return (tool, input, ctx) =>
      pass({
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
      this.source.replace(upstream, tools)
      // A list that is empty because the server is away is not what it has.
      if (reads > 0) this.#save(upstream)
    })
    events.on('listed', ({ upstream }) => this.#save(upstream))
    events.on('connected', ({ upstream }) => {
      const connection = this.upstreams.get(upstream)?.connection
      if (connection === undefined) return
      const { server, instructions } = connection
      this.source.describe(upstream, { title: server.title ?? server.name, instructions, info: server })
    })
  }

  /** Reads what was known last of the servers that are new. */
  async #remember({ mcpServers }: Config): Promise<void> {
    const { store } = this.#options
    const known = this.upstreams.names
    const fresh = Object.entries(mcpServers).filter(([name, { disabled }]) => !disabled && !known.includes(name))
    await Promise.all(
      fresh.map(async ([name, server]) => {
        const key = catalogKey(name, server)
        const found = await store.known(key).catch(() => undefined)
        const documents = await store.documents(key).catch(() => undefined)
        // Of one that had nothing but tools, nothing else was kept; nobody has to wait for it to say so again.
        this.proxy.restore(name, documents ?? (found === undefined ? undefined : {}))
        if (found === undefined) return
        this.#known.set(name, found.tools)
        const { instructions, info } = found
        this.source.describe(name, { title: info?.title ?? info?.name, instructions, info })
      }),
    )
  }

  #save(upstream: string): void {
    const found = this.upstreams.get(upstream)
    if (found === undefined) return
    const { store } = this.#options
    const { instructions, info } = this.source.says(upstream) ?? {}
    const introduced = { ...(instructions !== undefined && { instructions }), ...(info !== undefined && { info }) }
    this.#keep(upstream, (key) => store.replaceTools(key, found.tools, introduced))
  }

  #keep(upstream: string, write: (key: string) => Promise<void>): void {
    const server = this.config.mcpServers[upstream]
    if (server === undefined) return
    const { log } = this.#options
    const saving = write(catalogKey(upstream, server))
      .catch((error: unknown) => log.warn({ upstream, error }, 'What it has could not be kept for the next start.'))
      .finally(() => this.#saving.delete(saving))
    this.#saving.add(saving)
  }
}
