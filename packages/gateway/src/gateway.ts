import { hash } from 'node:crypto'
import type { Sha256, Tool } from '@unfold-mcp/core'
import { Toolbox } from '@unfold-mcp/server'
import { Access, type Client } from './access.ts'
import type { Clock } from './clock.ts'
import type { ReadConfig } from './config/read.ts'
import type { Config } from './config/schema.ts'
import { upstreamOf } from './config/upstream.ts'
import type { Log } from './log.ts'
import { chained, type Middleware, type Pass } from './middleware/chain.ts'
import { passOn } from './passing/call.ts'
import { UpstreamSource } from './source.ts'
import type { CatalogStore } from './stores/catalog.ts'
import { catalogKey } from './stores/key.ts'
import type { CallUpstream } from './transforms/entries.ts'
import { type Applied, Upstreams, type UpstreamsOptions } from './upstreams/upstreams.ts'
import { version } from './version.ts'

export interface GatewayOptions extends Pick<UpstreamsOptions, 'pace' | 'random'> {
  readonly read: ReadConfig
  /** The folder from which paths in the configuration are seen. */
  readonly folder: string
  /** Where the tools are kept that were known last. Whoever opened it closes it. */
  readonly store: CatalogStore
  readonly log: Log
  readonly clock?: Clock
  /** What happens to every call, the first outermost. */
  readonly middleware?: readonly Middleware[]
}

const sha256: Sha256 = (data) => Buffer.from(hash('sha256', data, 'hex'), 'hex')

const about =
  'The tools of several MCP servers behind one. Each server is a group; open the one you need, or search for what you want to do.'

/** Many servers behind one: a toolbox whose tools are those of the upstreams, and follow every change of theirs. */
export class Gateway implements AsyncDisposable {
  readonly upstreams: Upstreams
  readonly access: Access
  /** What is served; every way of serving a toolbox serves this one. */
  readonly toolbox: Toolbox<string, Record<string, unknown>, Client>
  readonly source: UpstreamSource
  readonly #options: GatewayOptions
  readonly #known = new Map<string, readonly Tool[]>()
  readonly #saving = new Set<Promise<void>>()
  #read: ReadConfig
  #closing: Promise<void> | undefined

  /** Starts what the configuration names. Resolves at once with the tools that were known last; servers come as they are ready. */
  static async open(options: GatewayOptions): Promise<Gateway> {
    const gateway = new Gateway(options)
    await gateway.apply(options.read)
    return gateway
  }

  private constructor(options: GatewayOptions) {
    const { read, clock, random, pace, middleware = [] } = options
    const { config } = read
    this.#options = options
    this.#read = read
    this.access = new Access(config)
    this.upstreams = new Upstreams({
      known: (name) => this.#known.get(name),
      connect: { clientInfo: { name: 'unfold-gateway', title: 'Unfold gateway', version } },
      ...(clock !== undefined && { clock }),
      ...(random !== undefined && { random }),
      ...(pace !== undefined && { pace }),
    })
    const pass = chained(middleware, (call) => passOn(this.upstreams, call))
    this.source = new UpstreamSource(config, { sha256, call: (server) => this.#callOf(server, pass) })
    this.toolbox = new Toolbox({
      name: 'unfold',
      title: 'Unfold gateway',
      version,
      about,
      exposure: this.access.exposure,
      permit: this.access,
      budgetTokens: config.budgetTokens,
      hiddenCalls: 'reveal',
      limits: { depth: config.limits.depth, elements: config.limits.elements },
      report: ({ reason, message }) => options.log.warn({ reason }, message),
    })
    this.toolbox.use(this.source)
    this.#follow()
  }

  get config(): Config {
    return this.#read.config
  }

  /** Servers that cannot be used until what they need is there. */
  get held(): ReadConfig['held'] {
    return this.#read.held
  }

  /** Makes this the configuration. Only the servers that it touches are touched. */
  async apply(read: ReadConfig): Promise<Applied> {
    const before = this.#read
    const { config } = read
    await this.#remember(config)
    this.#read = read
    this.access.configure(config)
    const { folder, store } = this.#options
    const configs = Object.entries(config.mcpServers).map(([name, server]) => [name, upstreamOf(server, folder)] as const)
    const applying = this.upstreams.apply(Object.fromEntries(configs))
    // What is known of new ones is served at once; those that end are waited for.
    const toolsOf = (server: string): readonly Tool[] => this.upstreams.get(server)?.tools ?? this.#known.get(server) ?? []
    this.source.configure(config, toolsOf)
    const applied = await applying
    this.source.configure(config, toolsOf)
    this.toolbox.toolListChanged()
    for (const name of applied.removed) {
      const old = before.config.mcpServers[name]
      if (old !== undefined) await store.remove(catalogKey(name, old)).catch(() => undefined)
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
    await this.upstreams.close()
    await this.toolbox.close()
    await Promise.all(this.#saving)
  }

  #callOf(upstream: string, pass: Pass): CallUpstream {
    return (tool, input, ctx) =>
      pass({
        upstream,
        tool,
        input: (input ?? {}) as Record<string, unknown>,
        client: ctx.principal as Client | undefined,
        ctx,
      })
  }

  #follow(): void {
    const { events } = this.upstreams
    events.on('tools', ({ upstream, tools, looks }) => {
      this.source.replace(upstream, tools)
      // A list that is empty because the server is away is not what it has.
      if (looks > 0) this.#save(upstream)
    })
    events.on('listed', ({ upstream }) => this.#save(upstream))
    events.on('connected', ({ upstream }) => {
      const connection = this.upstreams.get(upstream)?.connection
      if (connection === undefined) return
      const { server, instructions } = connection
      this.source.describe(upstream, { title: server.title ?? server.name, instructions })
    })
  }

  /** Reads what was known last of the servers that are new. */
  async #remember({ mcpServers }: Config): Promise<void> {
    const { store } = this.#options
    const known = this.upstreams.names
    const fresh = Object.entries(mcpServers).filter(([name, { disabled }]) => !disabled && !known.includes(name))
    await Promise.all(
      fresh.map(async ([name, server]) => {
        const found = await store.known(catalogKey(name, server)).catch(() => undefined)
        if (found === undefined) return
        this.#known.set(name, found.tools)
        this.source.describe(name, { instructions: found.instructions })
      }),
    )
  }

  #save(upstream: string): void {
    const server = this.config.mcpServers[upstream]
    const found = this.upstreams.get(upstream)
    if (server === undefined || found === undefined) return
    const { store, log } = this.#options
    const saving = store
      .replaceTools(catalogKey(upstream, server), found.tools, found.connection?.instructions)
      .catch((error: unknown) => log.warn({ upstream, error }, 'Its tools could not be kept for the next start.'))
      .finally(() => this.#saving.delete(saving))
    this.#saving.add(saving)
  }
}
