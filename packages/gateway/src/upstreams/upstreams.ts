import type { CallResult } from '@unfold-mcp/client'
import { type Clock, systemClock } from '@unfold-mcp/client'
import { nearest, nearestHint, printable, type Tool } from '@unfold-mcp/core'
import { isSameConfig, type UpstreamConfig } from './config.ts'
import { ToolList } from './connected/tool-list.ts'
import type { UpstreamCall } from './connection.ts'
import { UpstreamError } from './errors.ts'
import { EventStream, type ToolsChanged, type UpstreamState } from './events.ts'
import { Guard } from './process/guard.ts'
import { StartQueue } from './process/start-queue.ts'
import { type SignInLookup, signed } from './sign-in.ts'
import type { UpstreamStatus } from './status.ts'
import { Upstream, type UpstreamOptions } from './upstream.ts'

export interface UpstreamsOptions extends Pick<UpstreamOptions, 'pace' | 'open'> {
  readonly clock?: Clock
  /** Between 0 and 1. */
  readonly random?: () => number
  /** Cached tools of an upstream. */
  readonly cachedTools?: (name: string) => readonly Tool[] | undefined
  readonly connect?: Omit<NonNullable<UpstreamOptions['connect']>, 'onProcess'>
  /** Who signed in where, for servers that want to know who asks. */
  readonly signIns?: SignInLookup
  /** Until this is done, programs whose tools are known are started only if they are called. */
  readonly deferStartsUntil?: Promise<unknown>
}

/** What a new configuration did, by the names of the upstreams. */
export interface Applied {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Those that were started anew. */
  readonly replaced: readonly string[]
  /** Those that go on with other settings. */
  readonly adjusted: readonly string[]
}

/**
 * The servers behind a gateway. They are started side by side and none waits for another; whoever listens is told of every
 * change of their tools, once.
 */
export class Upstreams implements AsyncDisposable {
  /** What happens to them, as it happens. */
  readonly events = new EventStream()
  /** Resolves when something can be served: one has its tools, or none is about to. */
  readonly ready: Promise<void>
  readonly #options: UpstreamsOptions
  readonly #clock: Clock
  readonly #guard = new Guard()
  readonly #starts: StartQueue
  readonly #upstreams = new Map<string, Upstream>()
  #isReady: () => void = () => undefined
  #turn: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(options: UpstreamsOptions = {}) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#starts = new StartQueue({ clock: this.#clock, deferStartsUntil: options.deferStartsUntil })
    this.ready = new Promise((resolve) => {
      this.#isReady = resolve
    })
    this.events.on('listed', () => this.#isReady())
    this.events.on('state', () => this.#checkReady())
  }

  get names(): readonly string[] {
    return [...this.#upstreams.keys()]
  }

  /** The number of the process that ends the others should this one be killed. */
  get guardPid(): number | undefined {
    return this.#guard.pid
  }

  /** The configuration of each, as it is in use. */
  get configs(): Readonly<Record<string, UpstreamConfig>> {
    return Object.fromEntries(this.#configs)
  }

  get(name: string): Upstream | undefined {
    return this.#upstreams.get(name)
  }

  statuses(): readonly UpstreamStatus[] {
    return [...this.#upstreams.values()].map(({ status }) => status)
  }

  /** The tools of an upstream that are listed now. */
  tools(name: string): readonly Tool[] {
    return this.#upstreams.get(name)?.tools ?? []
  }

  /** Calls `listener` whenever the tools of an upstream are others than before. One that throws harms nobody. */
  onToolsChanged(listener: ((change: ToolsChanged) => void) | undefined): () => void {
    return listener === undefined ? () => undefined : this.events.on('tools', listener)
  }

  /** Reads the tools of an upstream now, whatever is known of them. */
  async discoverTools(name: string): Promise<readonly Tool[]> {
    return this.#named(name).discover()
  }

  async call(name: string, tool: string, args: Readonly<Record<string, unknown>>, options?: UpstreamCall): Promise<CallResult> {
    return this.#named(name).call(tool, args, options)
  }

  /** Asks an upstream for what is no tool, and returns what it answers as it came. */
  async request(
    name: string,
    method: string,
    params: Readonly<Record<string, unknown>>,
    options?: UpstreamCall,
  ): Promise<unknown> {
    return this.#named(name).request(method, params, options)
  }

  /** StartQueue an upstream anew. */
  restart(name: string): void {
    this.#named(name).restart()
  }

  /** Makes these the upstreams. Only what differs is touched; resolves when what had to end has ended, not when all have started. */
  apply(configs: Readonly<Record<string, UpstreamConfig>>): Promise<Applied> {
    return this.#inTurn(() => this.#apply(new Map(Object.entries(configs))))
  }

  add(name: string, config: UpstreamConfig): Promise<Applied> {
    return this.#inTurn(() => this.#apply(new Map([...this.#configs, [name, config]])))
  }

  remove(name: string): Promise<Applied> {
    return this.#inTurn(() => this.#apply(new Map([...this.#configs].filter(([each]) => each !== name))))
  }

  /** Ends them all. Resolves when their processes are gone. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#upstreams.values()].map((upstream) => upstream.close()))
    // One that was being replaced may have begun meanwhile.
    await this.#turn
    await Promise.all([...this.#upstreams.values()].map((upstream) => upstream.close()))
    this.#guard.close()
    this.#isReady()
  }

  get #configs(): ReadonlyMap<string, UpstreamConfig> {
    return new Map([...this.#upstreams].map(([name, { config }]) => [name, config]))
  }

  #inTurn(work: () => Promise<Applied>): Promise<Applied> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #apply(wanted: ReadonlyMap<string, UpstreamConfig>): Promise<Applied> {
    const unchanged: Applied = { added: [], removed: [], replaced: [], adjusted: [] }
    if (this.#closing !== undefined) return unchanged
    const before = this.#configs
    const added = [...wanted.keys()].filter((name) => !before.has(name))
    const removed = [...before.keys()].filter((name) => !wanted.has(name))
    const others = [...wanted].filter(([name, config]) => {
      const old = before.get(name)
      return old !== undefined && !isSameConfig(old, config)
    })
    const adjusted = others.filter(([name, config]) => this.#upstreams.get(name)?.adjust(config) === true).map(([name]) => name)
    const replaced = others.map(([name]) => name).filter((name) => !adjusted.includes(name))
    const ending = removed.map((name) => this.#remove(name))
    for (const name of added) this.#begin(name, wanted.get(name), { cachedTools: this.#options.cachedTools?.(name) })
    const replacing = replaced.map((name) => this.#replace(name, wanted.get(name)))
    this.#checkReady()
    await Promise.all([...ending, ...replacing])
    return { added, removed, replaced, adjusted }
  }

  #checkReady(): void {
    const all = [...this.#upstreams.values()]
    const coming: readonly UpstreamState[] = ['starting', 'installing', 'ready', 'stopped']
    const isComing = all.some(({ state }) => coming.includes(state))
    if (!isComing || all.some(({ tools }) => tools.length > 0)) this.#isReady()
  }

  #begin(name: string, config: UpstreamConfig | undefined, { cachedTools, isStale = false }: CreateOptions): void {
    if (config === undefined || this.#closing !== undefined) return
    const { random = Math.random, connect, pace } = this.#options
    const open: UpstreamOptions['open'] =
      this.#options.open ??
      (async (target, options, starting) => this.#starts.open(await signed(target, this.#options.signIns), options, starting))
    const upstream: Upstream = new Upstream({
      name,
      config,
      cachedTools,
      clock: this.#clock,
      random,
      emit: this.events.emit,
      connect: { ...connect, onProcess: this.#guard.tell },
      pace,
      open,
      awaited: () => this.#starts.review(),
    })
    this.#upstreams.set(name, upstream)
    upstream.start({ isStale })
  }

  /** Its tools stay listed until those of the next one are known. */
  async #replace(name: string, config: UpstreamConfig | undefined): Promise<void> {
    const old = this.#upstreams.get(name)
    if (old === undefined) return
    // What both need, such as a port or a lock, is free before the next one begins.
    await old.close()
    this.#begin(name, config, { cachedTools: old.tools, isStale: true })
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

  #named(name: string): Upstream {
    const upstream = this.#upstreams.get(name)
    if (upstream !== undefined) return upstream
    const near = nearest(name, this.names).map((each) => printable(each))
    throw new UpstreamError(name, 'unavailable', `is not one of this gateway.${nearestHint(near)}`)
  }
}

interface CreateOptions {
  readonly cachedTools: readonly Tool[] | undefined
  /** True if the tools may be those of a replaced server. */
  readonly isStale?: boolean
}
