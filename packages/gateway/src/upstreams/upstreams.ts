import type { CallResult } from '@unfold-mcp/client'
import { type Clock, systemClock } from '@unfold-mcp/client'
import { nearest, nearestHint, printable, type Tool } from '@unfold-mcp/core'
import { isSameConfig, type UpstreamConfig } from './config.ts'
import { ToolList } from './connected/tool-list.ts'
import type { ListReads, UpstreamCall } from './connection.ts'
import { UpstreamError } from './errors.ts'
import { EventStream, type ToolsChanged, type UpstreamState } from './events.ts'
import { Guard } from './process/guard.ts'
import { StartQueue } from './process/start-queue.ts'
import { type SignInLookup, withSignIn } from './sign-in.ts'
import type { ServerHolder, UpstreamStatus } from './status.ts'
import { Upstream, type UpstreamOptions } from './upstream.ts'

export interface UpstreamsOptions extends Pick<UpstreamOptions, 'pace' | 'open'> {
  readonly clock?: Clock
  /** Between 0 and 1. */
  readonly random?: () => number
  /** Cached tools of an upstream. */
  readonly cachedTools?: (name: string) => readonly Tool[] | undefined
  readonly connect?: Omit<NonNullable<UpstreamOptions['connect']>, 'onProcess'>
  /** True if no call may be sent to an upstream before its tools are listed. */
  readonly isPinned?: (name: string) => boolean
  /** Opens servers that run on one of several replicas. */
  readonly placement?: Placement
  /** Reads the tools of servers that one of several replicas follows. */
  readonly reads?: ListReads
  /** Sign-ins for servers that require authentication. */
  readonly signIns?: SignInLookup
  /** Until this resolves, servers with cached tools are started only if they are called. */
  readonly deferStartsUntil?: Promise<unknown>
}

/** Decides on which replica a server runs. */
export interface Placement {
  /** Wraps the function that opens a server on this replica. */
  open(server: string, openHere: NonNullable<UpstreamOptions['open']>): NonNullable<UpstreamOptions['open']>
  /** How long the tools of a server stay listed while it moves. */
  readonly graceMs: number
  /** The replica that runs a server, as far as this one knows. */
  holder(server: string): ServerHolder | undefined
}

/** Effect of a new configuration, by upstream name. */
export interface Applied {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Restarted. */
  readonly replaced: readonly string[]
  /** Running with changed settings. */
  readonly adjusted: readonly string[]
}

/**
 * The upstream servers of a gateway. They start independently of each other, and each change of their tools is emitted once.
 */
export class Upstreams implements AsyncDisposable {
  readonly events = new EventStream()
  /** Resolves when one server has tools, or none is about to. */
  readonly ready: Promise<void>
  readonly #options: UpstreamsOptions
  readonly #clock: Clock
  readonly #guard = new Guard()
  readonly #startQueue: StartQueue
  readonly #upstreams = new Map<string, Upstream>()
  #resolveReady: () => void = () => undefined
  #applied: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(options: UpstreamsOptions = {}) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#startQueue = new StartQueue({ clock: this.#clock, deferStartsUntil: options.deferStartsUntil })
    this.ready = new Promise((resolve) => {
      this.#resolveReady = resolve
    })
    this.events.on('listed', () => this.#resolveReady())
    this.events.on('state', () => this.#checkReady())
  }

  get names(): readonly string[] {
    return [...this.#upstreams.keys()]
  }

  /** Pid of the process that ends the servers if the gateway is killed. */
  get guardPid(): number | undefined {
    return this.#guard.pid
  }

  get configs(): Readonly<Record<string, UpstreamConfig>> {
    return Object.fromEntries(this.#configs)
  }

  get(name: string): Upstream | undefined {
    return this.#upstreams.get(name)
  }

  statuses(): readonly UpstreamStatus[] {
    return [...this.#upstreams.values()].map(({ status }) => {
      const holder = this.#options.placement?.holder(status.name)
      return holder === undefined ? status : { ...status, holder }
    })
  }

  tools(name: string): readonly Tool[] {
    return this.#upstreams.get(name)?.tools ?? []
  }

  onToolsChanged(listener: ((change: ToolsChanged) => void) | undefined): () => void {
    return listener === undefined ? () => undefined : this.events.on('tools', listener)
  }

  /** Lists the tools of an upstream now. */
  async discoverTools(name: string): Promise<readonly Tool[]> {
    return this.#require(name).discover()
  }

  async call(name: string, tool: string, args: Readonly<Record<string, unknown>>, options?: UpstreamCall): Promise<CallResult> {
    return this.#require(name).call(tool, args, options)
  }

  /** Sends a request other than tools/call and returns the raw result. */
  async request(
    name: string,
    method: string,
    params: Readonly<Record<string, unknown>>,
    options?: UpstreamCall,
  ): Promise<unknown> {
    return this.#require(name).request(method, params, options)
  }

  restart(name: string): void {
    this.#require(name).restart()
  }

  /** Replaces the configuration. Unchanged servers keep running. Resolves when removed servers have ended, not when new ones run. */
  apply(configs: Readonly<Record<string, UpstreamConfig>>): Promise<Applied> {
    return this.#enqueue(() => this.#apply(new Map(Object.entries(configs))))
  }

  add(name: string, config: UpstreamConfig): Promise<Applied> {
    return this.#enqueue(() => this.#apply(new Map([...this.#configs, [name, config]])))
  }

  remove(name: string): Promise<Applied> {
    return this.#enqueue(() => this.#apply(new Map([...this.#configs].filter(([each]) => each !== name))))
  }

  /** Stops all servers. Resolves when their processes have ended. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#upstreams.values()].map((upstream) => upstream.close()))
    // A replacement may have started meanwhile.
    await this.#applied
    await Promise.all([...this.#upstreams.values()].map((upstream) => upstream.close()))
    this.#guard.close()
    this.#resolveReady()
  }

  get #configs(): ReadonlyMap<string, UpstreamConfig> {
    return new Map([...this.#upstreams].map(([name, { config }]) => [name, config]))
  }

  #enqueue(work: () => Promise<Applied>): Promise<Applied> {
    const applied = this.#applied.then(work)
    this.#applied = applied.catch(() => undefined)
    return applied
  }

  async #apply(next: ReadonlyMap<string, UpstreamConfig>): Promise<Applied> {
    const unchanged: Applied = { added: [], removed: [], replaced: [], adjusted: [] }
    if (this.#closing !== undefined) return unchanged
    const before = this.#configs
    const added = [...next.keys()].filter((name) => !before.has(name))
    const removed = [...before.keys()].filter((name) => !next.has(name))
    const changed = [...next].filter(([name, config]) => {
      const old = before.get(name)
      return old !== undefined && !isSameConfig(old, config)
    })
    const adjusted = changed.filter(([name, config]) => this.#upstreams.get(name)?.adjust(config) === true).map(([name]) => name)
    const replaced = changed.map(([name]) => name).filter((name) => !adjusted.includes(name))
    const ending = removed.map((name) => this.#remove(name))
    for (const name of added) this.#create(name, next.get(name), { cachedTools: this.#options.cachedTools?.(name) })
    const replacing = replaced.map((name) => this.#replace(name, next.get(name)))
    this.#checkReady()
    await Promise.all([...ending, ...replacing])
    return { added, removed, replaced, adjusted }
  }

  #checkReady(): void {
    const all = [...this.#upstreams.values()]
    const coming: readonly UpstreamState[] = ['starting', 'installing', 'ready', 'stopped']
    const isComing = all.some(({ state }) => coming.includes(state))
    if (!isComing || all.some(({ tools }) => tools.length > 0)) this.#resolveReady()
  }

  #create(name: string, config: UpstreamConfig | undefined, { cachedTools, isStale = false }: CreateOptions): void {
    if (config === undefined || this.#closing !== undefined) return
    const { random = Math.random, connect, pace, isPinned } = this.#options
    const openHere: NonNullable<UpstreamOptions['open']> =
      this.#options.open ??
      (async (target, options, starting) =>
        this.#startQueue.open(await withSignIn(target, this.#options.signIns), options, starting))
    const placement = config.placement === 'one' ? this.#options.placement : undefined
    const open = placement?.open(name, openHere) ?? openHere
    const upstream: Upstream = new Upstream({
      name,
      config,
      cachedTools,
      clock: this.#clock,
      random,
      emit: this.events.emit,
      connect: { ...connect, onProcess: this.#guard.track },
      pace,
      open,
      reads: config.follow === 'one' ? this.#options.reads : undefined,
      minGraceMs: placement?.graceMs ?? 0,
      isPinned: () => isPinned?.(name) === true,
      awaited: () => this.#startQueue.review(),
    })
    this.#upstreams.set(name, upstream)
    upstream.start({ isStale })
  }

  /** The old tools stay listed until the new ones are known. */
  async #replace(name: string, config: UpstreamConfig | undefined): Promise<void> {
    const old = this.#upstreams.get(name)
    if (old === undefined) return
    // Frees resources that both need, such as a port or a lock.
    await old.close()
    this.#create(name, config, { cachedTools: old.tools, isStale: true })
    if (config?.disabled === true) this.#forget(name, old.tools)
  }

  async #remove(name: string): Promise<void> {
    const upstream = this.#upstreams.get(name)
    this.#upstreams.delete(name)
    if (upstream === undefined) return
    this.#forget(name, upstream.tools)
    await upstream.close()
  }

  #forget(name: string, tools: readonly Tool[]): void {
    new ToolList(tools, { upstream: name, emit: this.events.emit }).replace([], { reads: 0, ms: 0 })
  }

  #require(name: string): Upstream {
    const upstream = this.#upstreams.get(name)
    if (upstream !== undefined) return upstream
    const near = nearest(name, this.names).map((each) => printable(each))
    throw new UpstreamError(name, 'unavailable', `is not configured.${nearestHint(near)}`)
  }
}

interface CreateOptions {
  readonly cachedTools: readonly Tool[] | undefined
  /** True if the tools may be those of a replaced server. */
  readonly isStale?: boolean
}
