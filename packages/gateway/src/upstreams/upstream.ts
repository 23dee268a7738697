import { type CallResult, type Clock, type ConnectOptions, launcherOf, type Target } from '@unfold-mcp/client'
import { printable, type Tool } from '@unfold-mcp/core'
import { publicUrl } from './address.ts'
import { CallSlots } from './call-slots.ts'
import { isSameServer, settingsOf, type UpstreamConfig, type UpstreamSettings } from './config.ts'
import { FollowBudget } from './connected/follow-budget.ts'
import { LiveConnection } from './connected/live-connection.ts'
import type { Pace } from './connected/refresher.ts'
import { ToolList } from './connected/tool-list.ts'
import type { ListReads, UpstreamCall, UpstreamConnection } from './connection.ts'
import { Deferred } from './deferred.ts'
import { asUpstreamError, loginRequired, UpstreamError, type UpstreamErrorKind } from './errors.ts'
import type { Emit, UpstreamState } from './events.ts'
import { failureText } from './failure-text.ts'
import { StartAttempt } from './process/start-attempt.ts'
import type { StartRequest } from './process/start-queue.ts'
import { RetryPolicy } from './retry-policy.ts'
import { sandboxStatus, type UpstreamStatus } from './status.ts'
import { Timers } from './timers.ts'

export interface UpstreamOptions {
  readonly name: string
  readonly config: UpstreamConfig
  /** Cached tools, listed until the first read. */
  readonly cachedTools?: readonly Tool[] | undefined
  readonly clock: Clock
  /** Between 0 and 1. */
  readonly random: () => number
  readonly emit: Emit
  readonly connect?: Pick<ConnectOptions, 'clientInfo' | 'elicit' | 'relays' | 'onProcess' | 'maxMessageBytes'>
  readonly pace?: Partial<Pace> | undefined
  /** True if no call may be sent before its tools are listed: after a restart it may offer other tools than before. */
  readonly isPinned?: (() => boolean) | undefined
  /** Minimum of the grace period, for a server that moves between replicas. */
  readonly minGraceMs?: number
  /** Reads its tools together with other replicas. */
  readonly reads?: ListReads | undefined
  /** Called when a caller starts to wait for the connection. */
  readonly awaited?: () => void
  /** Opens the connection; default: `connect` of the client package. */
  readonly open?: (target: Target, options: ConnectOptions, starting: StartRequest) => Promise<UpstreamConnection>
}

// A connection that ends sooner counts as a failed attempt.
const steadyMs = 10_000
// How long a call waits for a reconnect.
const reconnectWaitMs = 5_000
/**
 * One configured server: starts, monitors and restarts it, and keeps its tools up to date. Tools stay listed for a grace period after
 * the connection is lost, so that a quick reconnect is not visible to clients.
 */
export class Upstream {
  readonly name: string
  /**
   * Limits how often its lists are read.
   * @internal
   */
  readonly followBudget: FollowBudget
  readonly #options: UpstreamOptions
  readonly #list: ToolList
  readonly #slots: CallSlots
  readonly #ready: Deferred<LiveConnection>
  readonly #timers: Timers<'retry' | 'grace' | 'steady' | 'sweep' | 'idle'>
  readonly #retryPolicy = new RetryPolicy()
  #config: UpstreamConfig
  #settings: UpstreamSettings
  #state: UpstreamState = 'stopped'
  #since: number
  #retryAt: number | undefined
  #live: LiveConnection | undefined
  /** The latest attempt to connect, unless it failed or was stopped. */
  #attempt: StartAttempt | undefined
  #hasWarned = false
  /** True if its tools are unknown, or may be those of a replaced server. */
  #isStale = false
  /** True if it connected since the gateway started, with this configuration. */
  #hasConnected = false
  /** Error of the last `tools/list`. */
  #listError: string | undefined
  /** Number of running `discover` calls. */
  #discoveries = 0
  /** Connections that are being opened or closed. */
  readonly #closing = new Set<Promise<unknown>>()

  constructor(options: UpstreamOptions) {
    const { name, config, cachedTools = [], emit, clock } = options
    this.name = name
    this.#options = options
    this.#config = config
    this.#settings = settingsOf(config)
    this.#since = clock.now()
    this.#list = new ToolList(config.disabled === true ? [] : cachedTools, { upstream: name, emit })
    this.followBudget = new FollowBudget({ clock, slowed: (slowdown) => emit('slowed', { upstream: name, ...slowdown }) })
    this.#timers = new Timers(clock)
    this.#slots = new CallSlots(name, () => this.#settings)
    this.#ready = new Deferred(clock)
  }

  get config(): UpstreamConfig {
    return this.#config
  }

  get state(): UpstreamState {
    return this.#state
  }

  get tools(): readonly Tool[] {
    return this.#list.tools
  }

  /** True if a caller waits for the connection or for its tools. */
  get isAwaited(): boolean {
    return this.#ready.isAwaited || this.#isStale
  }

  /** The current protocol session. */
  get connection(): UpstreamConnection | undefined {
    return this.#live?.connection
  }

  get status(): UpstreamStatus {
    const now = this.#options.clock.now()
    const live = this.#live
    const lastError = this.#lastError
    const attempt = this.#attemptNumber
    const { isQueued = false, lastOutput } = this.#attempt ?? {}
    const { target } = this.#config
    const address = 'url' in target ? publicUrl(target.url) : undefined
    return {
      name: this.name,
      state: this.#state,
      forMs: Math.round(now - this.#since),
      tools: this.tools.length,
      calls: this.#slots.load,
      ...(address !== undefined && { address }),
      ...('command' in target && target.sandbox !== undefined && { sandbox: sandboxStatus(target.sandbox) }),
      ...(attempt !== undefined && { attempt }),
      ...(isQueued && { isQueued: true }),
      ...(this.#isStarting && lastOutput !== undefined && { lastOutput }),
      ...(lastError !== undefined && { lastError }),
      ...(this.#retryAt !== undefined && { nextRetryInMs: Math.max(0, Math.round(this.#retryAt - now)) }),
      ...live?.status,
    }
  }

  get #isStarting(): boolean {
    return this.#state === 'starting' || this.#state === 'installing'
  }

  /** Number of the current or last attempt; undefined while connected or stopped. */
  get #attemptNumber(): number | undefined {
    if (this.#live !== undefined || ['disabled', 'idle', 'stopped'].includes(this.#state)) return undefined
    return this.#retryPolicy.failures + (this.#retryAt === undefined ? 1 : 0)
  }

  get #lastError(): string | undefined {
    const text = this.#listError === undefined ? this.#retryPolicy.lastError : `is ready, tools/list failed: ${this.#listError}`
    return text === undefined ? undefined : `server "${printable(this.name)}" ${text}`
  }

  /** Starts it, or leaves it idle until the first call if it is lazy and its tools are cached. `isStale` starts it in any case. */
  start({ isStale = false }: { readonly isStale?: boolean } = {}): void {
    if (this.#config.disabled === true) {
      this.#enter('disabled')
      return
    }
    this.#isStale = this.#options.cachedTools === undefined || isStale
    if (this.#settings.start === 'lazy' && !this.#isStale) this.#enter('idle')
    else this.#connect('starting')
  }

  restart(): void {
    if (this.#state === 'disabled' || this.#state === 'stopped') return
    if (this.connection?.restart !== undefined) {
      // The connection ends with the server.
      this.connection.restart().catch(() => undefined)
      return
    }
    this.#disconnect()
    this.#retryPolicy.resetBackoff()
    this.#connect('starting')
  }

  /** Applies new settings. Returns false if they require a restart. */
  adjust(config: UpstreamConfig): boolean {
    if (!isSameServer(this.#config, config)) return false
    this.#config = config
    this.#settings = settingsOf(config)
    if (this.#live === undefined) return true
    this.#scheduleSweep()
    this.#scheduleIdleStop()
    return true
  }

  /** Lists its tools now, and starts it if it is idle. */
  async discover(): Promise<readonly Tool[]> {
    this.#discoveries += 1
    try {
      const live = await this.#liveConnection(undefined)
      return await live.refresh()
    } finally {
      this.#discoveries -= 1
      this.#scheduleIdleStop()
    }
  }

  /** Calls a tool by its original name. Every failure is an `UpstreamError`. */
  async call(tool: string, args: Readonly<Record<string, unknown>>, options: UpstreamCall = {}): Promise<CallResult> {
    const { clock, emit } = this.#options
    const startedAt = clock.now()
    let outcome: UpstreamErrorKind | 'ok' | 'error' = 'ok'
    try {
      const { signal, caller } = options
      const slot = this.#slots.acquire(signal, caller)
      const release = typeof slot === 'function' ? slot : await slot
      try {
        const live = this.#live ?? (await this.#liveConnection(signal))
        if (this.#options.isPinned?.() === true) await this.#awaitList(live)
        // The call may have waited since it was admitted.
        if (options.isServed?.() === false && (live.isListed || this.tools.length > 0))
          throw this.#error('unknown_tool', `no longer has the tool "${printable(tool)}". List the tools again.`)
        const result = await live.call(tool, args, options)
        if (result.isError) outcome = 'error'
        return result
      } finally {
        this.#release(release)
      }
    } catch (error) {
      const failure = asUpstreamError(this.name, tool, error)
      outcome = failure.kind
      throw failure
    } finally {
      emit('call', { upstream: this.name, tool, ms: Math.round(clock.now() - startedAt), outcome })
    }
  }

  /** Sends a request other than tools/call. Every failure is an `UpstreamError`. */
  async request(method: string, params: Readonly<Record<string, unknown>>, options: UpstreamCall = {}): Promise<unknown> {
    const { signal, caller } = options
    try {
      const release = await this.#slots.acquire(signal, caller)
      try {
        const live = await this.#liveConnection(signal)
        return await live.request(method, params, options)
      } finally {
        this.#release(release)
      }
    } catch (error) {
      throw asUpstreamError(this.name, method, error)
    }
  }

  /** Stops it. Resolves when its process has ended. */
  async close(): Promise<void> {
    this.#disconnect()
    this.#enter('stopped')
    this.#ready.reject(this.#error('unavailable', 'was removed from the configuration.'))
    await Promise.all(this.#closing)
  }

  #release(release: () => void): void {
    release()
    this.#scheduleIdleStop()
  }

  /** Returns the connection, and waits for it if a reconnect is near. */
  #liveConnection(signal: AbortSignal | undefined): Promise<LiveConnection> {
    if (this.#live !== undefined) return Promise.resolve(this.#live)
    if (this.#state === 'idle') this.#connect('starting')
    const now = this.#options.clock.now()
    const retryInMs = this.#retryAt === undefined ? 0 : this.#retryAt - now
    if (this.#state === 'disabled') throw this.#error('disabled', 'is disabled. The operator can enable it with "unfold enable".')
    if (this.#state === 'stopped') throw this.#error('unavailable', 'was removed from the configuration.')
    if (this.#state === 'needs_login') throw loginRequired(this.name)
    if (retryInMs > reconnectWaitMs) throw this.#unavailable(retryInMs)
    const liveConnection = this.#ready.wait({
      ms: this.#isStarting ? this.#settings.startTimeoutMs : reconnectWaitMs,
      signal,
      timedOut: () =>
        this.#state === 'installing' || this.#attempt?.isQueued === true
          ? this.#notInstalled()
          : this.#unavailable(reconnectWaitMs),
      cancelled: () => this.#error('cancelled', 'was not called: the call was cancelled while the server was connecting.'),
    })
    this.#options.awaited?.()
    return liveConnection
  }

  async #awaitList(live: LiveConnection): Promise<void> {
    if (live.isListed) return
    await live.firstRead
    if (!live.isListed) throw this.#error('unavailable', 'could not list its tools. The tool was not called; try again later.')
  }

  #notInstalled(): UpstreamError {
    const seconds = Math.round((this.#options.clock.now() - this.#since) / 1_000)
    const progress = this.#attempt?.isQueued === true ? 'is waiting to be installed' : `is being installed (${seconds} s so far)`
    return this.#error('unavailable', `${progress}. The tool was not called; try again in a minute.`, { retryAfterMs: 60_000 })
  }

  #unavailable(retryAfterMs: number): UpstreamError {
    const retry = `The tool was not called; the next attempt is within ${Math.ceil(retryAfterMs / 1_000)} s.`
    const { publicMessage } = this.#retryPolicy
    const cause = publicMessage === undefined ? '' : ` ${publicMessage}`
    return this.#error('unavailable', `is unavailable (${this.#state}).${cause} ${retry}`, {
      retryAfterMs: Math.round(retryAfterMs),
    })
  }

  #error(kind: UpstreamErrorKind, message: string, options: ErrorOptions & { retryAfterMs?: number } = {}): UpstreamError {
    return new UpstreamError(this.name, kind, message, options)
  }

  #connect(state: UpstreamState): void {
    this.#timers.stop('retry')
    this.#retryAt = undefined
    const { clock } = this.#options
    const attempt = new StartAttempt({
      upstream: this.#options,
      config: this.#config,
      settings: this.#settings,
      number: this.#retryPolicy.failures + 1,
      request: { isAwaited: () => this.isAwaited, hasAnswered: this.#hasConnected, wasKnown: !this.#isStale },
      entered: (phase) => this.#enter(phase),
    })
    this.#attempt = attempt
    this.#enter(state)
    const startedAt = clock.now()
    // Concurrent installations would overwrite each other, so wait for the previous one to end.
    const opening =
      this.#isLaunched && this.#closing.size > 0 ? Promise.all(this.#closing).then(() => attempt.open()) : attempt.open()
    const opened = opening.then(
      (connection) => {
        if (attempt.isStopped) return connection.close()
        this.#connected(connection, clock.now() - startedAt)
        return undefined
      },
      (error: unknown) => {
        if (!attempt.isStopped) this.#lost(error)
      },
    )
    this.#trackClosing(opened)
  }

  /** True if a launcher such as `npx` starts it. */
  get #isLaunched(): boolean {
    const { target } = this.#config
    return 'command' in target && launcherOf(target) !== undefined
  }

  #connected(connection: UpstreamConnection, ms: number): void {
    const { emit, clock, random, pace, reads } = this.#options
    const upstream = this.name
    const live = new LiveConnection({
      upstream,
      connection,
      list: this.#list,
      settings: () => this.#settings,
      isBusy: () => this.#slots.isBusy,
      emit,
      listChanged: () => this.#listChanged(live.announcesChanges),
      listed: (error) => this.#listed(error, live),
      lost: (error) => this.#lost(error, live),
      clock,
      random,
      pace,
      budget: this.followBudget,
      reads,
    })
    this.#live = live
    this.#hasConnected = true
    this.#timers.stop('grace')
    const { server, protocolVersion } = connection
    const { announcesChanges } = live
    emit('connected', { upstream, server: server.name, protocolVersion, announcesChanges, ms: Math.round(ms) })
    // A listener may have stopped it.
    if (this.#live !== live) return
    this.#enter('ready')
    this.#timers.set('steady', { ms: steadyMs, isIdle: true, work: () => this.#retryPolicy.reset() })
    this.#scheduleSweep()
    live.start()
    void live.firstRead.then(() => this.#scheduleIdleStop())
    this.#ready.resolve(live)
  }

  #listed(error: string | undefined, live: LiveConnection): void {
    if (live !== this.#live) return
    this.#listError = error
    this.#enter(error === undefined ? 'ready' : 'degraded')
  }

  #listChanged(isDeclared: boolean): void {
    const { emit } = this.#options
    emit('list_changed', { upstream: this.name, isDeclared })
    if (isDeclared || this.#hasWarned) return
    this.#hasWarned = true
    emit('warning', { upstream: this.name, message: 'sends tools/list_changed without declaring tools.listChanged' })
  }

  /** Handles a failed attempt or a lost connection. */
  #lost(error: unknown, live?: LiveConnection): void {
    if (live !== this.#live || this.#state === 'stopped') return
    const wasConnected = live !== undefined
    this.#disconnect()
    const { clock, random } = this.#options
    const failing = { name: this.name, isCommand: 'command' in this.#config.target, wasConnected, settings: this.#settings }
    const failed = {
      text: failureText(error, failing),
      isInstall: this.#isLaunched && !wasConnected,
      hasConnected: this.#hasConnected,
    }
    const { state, retryInMs } = this.#retryPolicy.recordFailure(error, failed, random)
    this.#retryAt = clock.now() + retryInMs
    // A pending retry keeps the process running.
    this.#timers.set('retry', { ms: retryInMs, isIdle: false, work: () => this.#connect(state) })
    if (!this.#timers.isSet('grace')) this.#scheduleRemoval()
    this.#enter(state)
    if (state === 'needs_login') this.#ready.reject(loginRequired(this.name))
    else if (retryInMs > reconnectWaitMs) this.#ready.reject(this.#unavailable(retryInMs))
  }

  /** Closes the connection and stops all timers except the grace period. */
  #disconnect(): void {
    this.#attempt?.stop()
    this.#attempt = undefined
    this.#timers.stop('retry', 'steady', 'sweep', 'idle')
    this.#retryAt = undefined
    this.#listError = undefined
    const live = this.#live
    this.#live = undefined
    if (live !== undefined) this.#trackClosing(live.close())
  }

  #trackClosing(closing: Promise<unknown>): void {
    const settled = closing.catch(() => undefined).finally(() => this.#closing.delete(settled))
    this.#closing.add(settled)
  }

  #scheduleRemoval(): void {
    const ms = Math.max(this.#settings.graceMs, this.#options.minGraceMs ?? 0)
    this.#timers.set('grace', { ms, isIdle: true, work: () => this.#list.replace([], { reads: 0, ms }) })
  }

  #scheduleSweep(): void {
    const { sweepMs } = this.#settings
    this.#timers.stop('sweep')
    if (sweepMs <= 0) return
    const work = (): void => {
      void this.#live?.refresh()
      this.#options.emit('documents', { upstream: this.name, notice: { kind: 'resync' } })
      this.#scheduleSweep()
    }
    this.#timers.set('sweep', { ms: sweepMs * (0.9 + 0.2 * this.#options.random()), isIdle: true, work })
  }

  /** True while stopping it would fail a call or leave its tools unknown. */
  get #isInUse(): boolean {
    return this.#slots.isBusy || this.#discoveries > 0 || this.#live?.hasRead === false
  }

  #scheduleIdleStop(): void {
    const { idleStopMs } = this.#settings
    this.#timers.stop('idle')
    if (idleStopMs <= 0 || this.#live === undefined || this.#isInUse) return
    const work = (): void => {
      // A call may have started meanwhile; its end schedules the stop again.
      if (this.#isInUse) return
      this.#disconnect()
      this.#enter('idle')
    }
    this.#timers.set('idle', { ms: idleStopMs, isIdle: true, work })
  }

  #enter(state: UpstreamState): void {
    if (state === 'stopped' || state === 'disabled') this.#timers.stop('grace')
    if (state === this.#state && state !== 'reconnecting' && state !== 'failed') return
    const { clock, emit } = this.#options
    if (state !== this.#state) this.#since = clock.now()
    this.#state = state
    const isFailing = state === 'reconnecting' || state === 'failed' || state === 'needs_login'
    const retryInMs = this.#retryAt === undefined ? undefined : Math.round(this.#retryAt - clock.now())
    const { lastError: error } = this.#retryPolicy
    const attempt = this.#attemptNumber
    // A running attempt is not a new state.
    if (isFailing && retryInMs === undefined) return
    emit('state', {
      upstream: this.name,
      state,
      ...(isFailing && error !== undefined && { error }),
      ...(attempt !== undefined && (isFailing || state === 'installing') && { attempt }),
      ...(retryInMs !== undefined && { retryInMs }),
    })
  }
}
