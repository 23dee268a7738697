import type { Clock } from '@unfold-mcp/client'
import { type CallResult, type ConnectOptions, connect, launcherOf, type Target } from '@unfold-mcp/client'
import { printable, Semaphore, type Tool } from '@unfold-mcp/core'
import { addressOf } from './address.ts'
import { isSameServer, settingsOf, type UpstreamConfig, type UpstreamSettings } from './config.ts'
import { LiveConnection } from './connected/live-connection.ts'
import type { Pace } from './connected/refresher.ts'
import { ToolList } from './connected/tool-list.ts'
import type { UpstreamCall, UpstreamConnection } from './connection.ts'
import { Deferred } from './deferred.ts'
import { asUpstreamError, UpstreamError, type UpstreamReason } from './errors.ts'
import type { Emit, UpstreamState } from './events.ts'
import { failureText } from './failure-text.ts'
import type { StartPhase, StartRequest } from './process/start-queue.ts'
import { RetryPolicy } from './retry-policy.ts'
import type { UpstreamStatus } from './status.ts'
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
  /** What connecting takes beside what the configuration says. */
  readonly connect?: Pick<ConnectOptions, 'clientInfo' | 'elicit' | 'relays' | 'onProcess' | 'maxMessageBytes'>
  readonly pace?: Partial<Pace> | undefined
  /** Somebody waits for it who did not before. */
  readonly awaited?: () => void
  /** How it is reached; over the network or as a process by default. */
  readonly open?: (target: Target, options: ConnectOptions, starting: StartRequest) => Promise<UpstreamConnection>
}

// One that ends sooner has not recovered.
const steadyMs = 10_000
// A call waits so long for one that is about to come back.
const patienceMs = 5_000
// How often it is said that it is still being installed.
const progressMs = 15_000
// What npm says beside what it does.
const npmNotice = /^npm (?:warn|notice)\b|^\s*$/iu

/**
 * One server behind the gateway, for as long as it is configured: it is started, watched, restarted when it is lost, and its
 * tools are followed. Its tools stay listed for a short time when it is lost, so that one that is back soon is never missed.
 */
export class Upstream {
  readonly name: string
  readonly #options: UpstreamOptions
  readonly #list: ToolList
  readonly #semaphore: Semaphore
  readonly #ready: Deferred<LiveConnection>
  readonly #timers: Timers<'retry' | 'grace' | 'steady' | 'sweep' | 'idle' | 'progress'>
  readonly #retryPolicy = new RetryPolicy()
  #config: UpstreamConfig
  #settings: UpstreamSettings
  #state: UpstreamState = 'stopped'
  #since: number
  #retryAt: number | undefined
  #live: LiveConnection | undefined
  #attempt: AbortController | undefined
  #hasWarned = false
  /** What it has is not known, or may be what another had. */
  #isStale = false
  /** Whether it was ever connected, with this configuration, since the gateway started. */
  #hasConnected = false
  #isQueued = false
  /** Why `tools/list` failed the last time, if it did. */
  #listError: string | undefined
  /** What it wrote to standard error last, since it was started. */
  #lastOutput: string | undefined
  /** What was opened and is being closed. */
  readonly #closing = new Set<Promise<unknown>>()

  constructor(options: UpstreamOptions) {
    const { name, config, cachedTools = [], emit, clock } = options
    this.name = name
    this.#options = options
    this.#config = config
    this.#settings = settingsOf(config)
    this.#since = clock.now()
    this.#list = new ToolList(config.disabled === true ? [] : cachedTools, { upstream: name, emit })
    this.#timers = new Timers(clock)
    this.#semaphore = new Semaphore(() => this.#settings)
    this.#ready = new Deferred(clock)
  }

  get config(): UpstreamConfig {
    return this.#config
  }

  get state(): UpstreamState {
    return this.#state
  }

  /** The tools that are listed now. */
  get tools(): readonly Tool[] {
    return this.#list.tools
  }

  /** Whether it is missed: somebody waits for it, or for what it has. */
  get isAwaited(): boolean {
    return this.#ready.isAwaited || this.#isStale
  }

  /** The protocol session there is, for prompts, resources and what else passes through. */
  get connection(): UpstreamConnection | undefined {
    return this.#live?.connection
  }

  get status(): UpstreamStatus {
    const now = this.#options.clock.now()
    const live = this.#live
    const lastError = this.#lastError
    const attempt = this.#attemptNumber
    const isStarting = this.#state === 'starting' || this.#state === 'installing'
    const { target } = this.#config
    const address = 'url' in target ? addressOf(target.url) : undefined
    return {
      name: this.name,
      state: this.#state,
      forMs: Math.round(now - this.#since),
      tools: this.tools.length,
      calls: { running: this.#semaphore.running, waiting: this.#semaphore.waiting },
      ...(address !== undefined && { address }),
      ...(attempt !== undefined && { attempt }),
      ...(this.#isQueued && { isQueued: true }),
      ...(isStarting && this.#lastOutput !== undefined && { lastOutput: this.#lastOutput }),
      ...(lastError !== undefined && { lastError }),
      ...(this.#retryAt !== undefined && { nextRetryInMs: Math.max(0, Math.round(this.#retryAt - now)) }),
      ...(live !== undefined && {
        server: live.connection.server.name,
        protocolVersion: live.connection.protocolVersion,
        era: live.connection.era,
        announcesChanges: live.announcesChanges,
        ...(live.slowedMs > 0 && { slowedMs: live.slowedMs }),
        ...(live.connection.pid !== undefined && { pid: live.connection.pid }),
      }),
    }
  }

  /** Which attempt to start it this is, or was; nothing where it is connected, or is not to be. */
  get #attemptNumber(): number | undefined {
    if (this.#live !== undefined || ['disabled', 'idle', 'stopped'].includes(this.#state)) return undefined
    return this.#retryPolicy.failures + (this.#retryAt === undefined ? 1 : 0)
  }

  get #lastError(): string | undefined {
    const text = this.#listError === undefined ? this.#retryPolicy.text : `is ready, tools/list failed: ${this.#listError}`
    return text === undefined ? undefined : `server "${printable(this.name)}" ${text}`
  }

  /** Begins: it is started, or sleeps until the first call if its tools are known. `isStale` starts it in any case. */
  start({ isStale = false }: { readonly isStale?: boolean } = {}): void {
    if (this.#config.disabled === true) {
      this.#enter('disabled')
      return
    }
    this.#isStale = this.#options.cachedTools === undefined || isStale
    if (this.#settings.start === 'lazy' && !this.#isStale) this.#enter('idle')
    else this.#connect('starting')
  }

  /** StartQueue it anew, whatever it is doing. */
  restart(): void {
    if (this.#state === 'disabled' || this.#state === 'stopped') return
    this.#end()
    this.#retryPolicy.forgive()
    this.#connect('starting')
  }

  /** Takes other settings into use. False when they are for another server: then this one cannot go on. */
  adjust(config: UpstreamConfig): boolean {
    if (!isSameServer(this.#config, config)) return false
    this.#config = config
    this.#settings = settingsOf(config)
    if (this.#live === undefined) return true
    this.#planSweep()
    this.#planSleep()
    return true
  }

  /** Reads its tools now, and starts it for that if it sleeps. */
  async discover(): Promise<readonly Tool[]> {
    const live = await this.#liveConnection(undefined)
    return live.read()
  }

  /** Calls a tool by the name that the upstream gave it. All that can go wrong is an `UpstreamError`. */
  async call(tool: string, args: Readonly<Record<string, unknown>>, options: UpstreamCall = {}): Promise<CallResult> {
    const { clock, emit } = this.#options
    const begun = clock.now()
    let outcome: UpstreamReason | 'ok' | 'error' = 'ok'
    try {
      const { signal } = options
      const leave = this.#semaphore.tryAcquire(signal) ?? (await this.#turn(signal))
      try {
        const live = this.#live ?? (await this.#liveConnection(signal))
        const result = await live.call(tool, args, options)
        if (result.isError) outcome = 'error'
        return result
      } finally {
        this.#leave(leave)
      }
    } catch (error) {
      const failure = asUpstreamError(this.name, tool, error)
      outcome = failure.reason
      throw failure
    } finally {
      emit('call', { upstream: this.name, tool, ms: Math.round(clock.now() - begun), outcome })
    }
  }

  /** Asks for what is no tool. All that can go wrong is an `UpstreamError`. */
  async request(method: string, params: Readonly<Record<string, unknown>>, options: UpstreamCall = {}): Promise<unknown> {
    const { signal } = options
    try {
      const leave = await this.#turn(signal)
      try {
        const live = await this.#liveConnection(signal)
        return await live.request(method, params, options)
      } finally {
        this.#leave(leave)
      }
    } catch (error) {
      throw asUpstreamError(this.name, method, error)
    }
  }

  /** Ends it. Resolves when its process is gone. */
  async close(): Promise<void> {
    this.#end()
    this.#enter('stopped')
    this.#ready.reject(this.#error('unavailable', 'is no longer part of this gateway.'))
    await Promise.all(this.#closing)
  }

  /** Resolves when there is room for one more call, with what ends it. */
  async #turn(signal: AbortSignal | undefined): Promise<() => void> {
    const leave = await this.#semaphore.acquire(signal).catch((error: unknown) => {
      throw this.#error('cancelled', 'was not called: it was cancelled before its turn came.', { cause: error })
    })
    if (leave !== undefined) return leave
    const { concurrency, queue } = this.#settings
    throw this.#error(
      'busy',
      `has too much to do: ${concurrency} calls are running and ${queue} are waiting. Nothing was done; call it again later.`,
      { retryAfterMs: 1_000 },
    )
  }

  #leave(leave: () => void): void {
    leave()
    this.#planSleep()
  }

  /** What is connected; waits for it when that is not long. */
  #liveConnection(signal: AbortSignal | undefined): Promise<LiveConnection> {
    if (this.#live !== undefined) return Promise.resolve(this.#live)
    if (this.#state === 'idle') this.#connect('starting')
    const now = this.#options.clock.now()
    const retryInMs = this.#retryAt === undefined ? 0 : this.#retryAt - now
    if (this.#state === 'disabled') throw this.#error('disabled', 'is disabled. Ask the person who runs it to enable it.')
    if (this.#state === 'stopped') throw this.#error('unavailable', 'is no longer part of this gateway.')
    if (this.#state === 'needs_login') throw this.#login()
    if (retryInMs > patienceMs) throw this.#away(retryInMs)
    const liveConnection = this.#ready.join({
      ms: this.#state === 'starting' || this.#state === 'installing' ? this.#settings.startTimeoutMs : patienceMs,
      signal,
      late: () => (this.#state === 'installing' || this.#isQueued ? this.#notInstalled() : this.#away(patienceMs)),
      cancelled: () => this.#error('cancelled', 'was not called: it was cancelled before it was there.'),
    })
    this.#options.awaited?.()
    return liveConnection
  }

  #notInstalled(): UpstreamError {
    const seconds = Math.round((this.#options.clock.now() - this.#since) / 1_000)
    const how = this.#isQueued ? 'waits to be installed' : `is being installed (for ${seconds} s so far)`
    return this.#error('unavailable', `${how}. Nothing was done; call it again in a minute.`, { retryAfterMs: 60_000 })
  }

  #away(retryAfterMs: number): UpstreamError {
    const soon = `Nothing was done; it is tried again within ${Math.ceil(retryAfterMs / 1_000)} s.`
    const { publicMessage } = this.#retryPolicy
    const why = publicMessage === undefined ? '' : ` ${publicMessage}`
    return this.#error('unavailable', `is not there (${this.#state}).${why} ${soon}`, { retryAfterMs: Math.round(retryAfterMs) })
  }

  #login(): UpstreamError {
    return this.#error('needs_login', 'wants a login. Ask the person who runs it to sign in.')
  }

  #error(reason: UpstreamReason, message: string, options: ErrorOptions & { retryAfterMs?: number } = {}): UpstreamError {
    return new UpstreamError(this.name, reason, message, options)
  }

  #connect(state: UpstreamState): void {
    this.#timers.stop('retry')
    this.#retryAt = undefined
    this.#lastOutput = undefined
    const attempt = new AbortController()
    this.#attempt = attempt
    this.#enter(state)
    const { emit, clock, connect: extra, open = connect } = this.#options
    const { target, protocol } = this.#config
    const upstream = this.name
    const begun = clock.now()
    const { startTimeoutMs: timeoutMs, installTimeoutMs } = this.#settings
    const starting: StartRequest = {
      isAwaited: () => this.isAwaited,
      hasAnswered: this.#hasConnected,
      wasKnown: !this.#isStale,
      phase: (phase) => {
        if (!attempt.signal.aborted) this.#enterPhase(phase)
      },
    }
    const options: ConnectOptions = {
      ...extra,
      name: upstream,
      timeoutMs,
      installTimeoutMs,
      signal: attempt.signal,
      onStderr: (line) => {
        if (!npmNotice.test(line)) this.#lastOutput = line
        emit('stderr', { upstream, line })
      },
      onWarning: (message) => emit('warning', { upstream, message }),
      onLog: (entry) => emit('log', { upstream, entry }),
      onDocuments: (notice) => emit('documents', { upstream, notice }),
      ...(protocol !== undefined && { protocol }),
    }
    // Two of the same that install at once would overwrite each other; the one before may still clean up.
    const opening =
      this.#isLaunched && this.#closing.size > 0
        ? Promise.all(this.#closing).then(() => open(target, options, starting))
        : open(target, options, starting)
    const opened = opening.then(
      (connection) => {
        if (attempt.signal.aborted) return connection.close()
        this.#connected(connection, clock.now() - begun)
        return undefined
      },
      (error: unknown) => {
        if (!attempt.signal.aborted) this.#lost(error)
      },
    )
    this.#closes(opened)
  }

  /** Whether a launcher such as `npx` starts it. */
  get #isLaunched(): boolean {
    const { target } = this.#config
    return 'command' in target && launcherOf(target) !== undefined
  }

  #enterPhase(phase: StartPhase): void {
    const { clock, emit } = this.#options
    const wasInstalling = this.#state === 'installing'
    const ms = Math.round(clock.now() - this.#since)
    this.#isQueued = phase === 'queued'
    this.#timers.stop('progress')
    if (phase === 'queued') return
    this.#enter(phase)
    if (phase === 'installing') this.#planProgress()
    else if (wasInstalling) emit('installed', { upstream: this.name, ms })
  }

  #planProgress(): void {
    const work = (): void => {
      const { clock, emit } = this.#options
      const ms = Math.round(clock.now() - this.#since)
      emit('installing', { upstream: this.name, attempt: this.#attemptNumber ?? 1, ms })
      this.#planProgress()
    }
    this.#timers.set('progress', { ms: progressMs, isIdle: true, work })
  }

  #connected(connection: UpstreamConnection, ms: number): void {
    const { emit, clock, random, pace } = this.#options
    const upstream = this.name
    const live = new LiveConnection({
      upstream,
      connection,
      list: this.#list,
      settings: () => this.#settings,
      isBusy: () => this.#semaphore.running > 0,
      emit,
      noticed: () => this.#noticed(live.announcesChanges),
      listed: (error) => this.#listed(error, live),
      lost: (error) => this.#lost(error, live),
      clock,
      random,
      pace,
    })
    this.#live = live
    this.#hasConnected = true
    this.#timers.stop('grace', 'progress')
    const { server, protocolVersion } = connection
    const { announcesChanges } = live
    emit('connected', { upstream, server: server.name, protocolVersion, announcesChanges, ms: Math.round(ms) })
    // Whoever was told may have ended it.
    if (this.#live !== live) return
    this.#enter('ready')
    this.#timers.set('steady', { ms: steadyMs, isIdle: true, work: () => this.#retryPolicy.forget() })
    this.#planSweep()
    this.#planSleep()
    live.begin()
    this.#ready.resolve(live)
  }

  #listed(error: string | undefined, live: LiveConnection): void {
    if (live !== this.#live) return
    this.#listError = error
    this.#enter(error === undefined ? 'ready' : 'degraded')
  }

  #noticed(isDeclared: boolean): void {
    const { emit } = this.#options
    emit('list_changed', { upstream: this.name, isDeclared })
    if (isDeclared || this.#hasWarned) return
    this.#hasWarned = true
    const message =
      'It says that its tools changed, and had not declared that it would (tools.listChanged). It is followed all the same.'
    emit('warning', { upstream: this.name, message })
  }

  /** It could not be reached, or is not there any more. */
  #lost(error: unknown, live?: LiveConnection): void {
    if (live !== this.#live || this.#state === 'stopped') return
    const wasConnected = live !== undefined
    this.#end()
    const { clock, random } = this.#options
    const failing = { name: this.name, isCommand: 'command' in this.#config.target, wasConnected, settings: this.#settings }
    const failed = {
      text: failureText(error, failing),
      isInstall: this.#isLaunched && !wasConnected,
      hasConnected: this.#hasConnected,
    }
    const { state, retryInMs } = this.#retryPolicy.add(error, failed, random)
    this.#retryAt = clock.now() + retryInMs
    // One that is to be started again is worth staying for.
    this.#timers.set('retry', { ms: retryInMs, isIdle: false, work: () => this.#connect(state) })
    if (!this.#timers.isSet('grace')) this.#planToForget()
    this.#enter(state)
    if (state === 'needs_login') this.#ready.reject(this.#login())
    else if (retryInMs > patienceMs) this.#ready.reject(this.#away(retryInMs))
  }

  /** Lets go of all there is, except the list and the time it has left. */
  #end(): void {
    this.#attempt?.abort()
    this.#timers.stop('retry', 'steady', 'sweep', 'idle', 'progress')
    this.#retryAt = undefined
    this.#isQueued = false
    this.#listError = undefined
    const live = this.#live
    this.#live = undefined
    if (live !== undefined) this.#closes(live.close())
  }

  #closes(closing: Promise<unknown>): void {
    const settled = closing.catch(() => undefined).finally(() => this.#closing.delete(settled))
    this.#closing.add(settled)
  }

  #planToForget(): void {
    const { graceMs: ms } = this.#settings
    this.#timers.set('grace', { ms, isIdle: true, work: () => this.#list.replace([], { reads: 0, ms }) })
  }

  #planSweep(): void {
    const { sweepMs } = this.#settings
    this.#timers.stop('sweep')
    if (sweepMs <= 0) return
    const work = (): void => {
      void this.#live?.read()
      this.#options.emit('documents', { upstream: this.name, notice: { kind: 'resync' } })
      this.#planSweep()
    }
    this.#timers.set('sweep', { ms: sweepMs * (0.9 + 0.2 * this.#options.random()), isIdle: true, work })
  }

  #planSleep(): void {
    const { idleStopMs } = this.#settings
    this.#timers.stop('idle')
    if (idleStopMs <= 0 || this.#live === undefined || this.#semaphore.running > 0) return
    const work = (): void => {
      this.#end()
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
    const isTrouble = state === 'reconnecting' || state === 'failed' || state === 'needs_login'
    const retryInMs = this.#retryAt === undefined ? undefined : Math.round(this.#retryAt - clock.now())
    const { text: error } = this.#retryPolicy
    const attempt = this.#attemptNumber
    // While it is being tried there is nothing new to tell.
    if (isTrouble && retryInMs === undefined) return
    emit('state', {
      upstream: this.name,
      state,
      ...(isTrouble && error !== undefined && { error }),
      ...(attempt !== undefined && (isTrouble || state === 'installing') && { attempt }),
      ...(retryInMs !== undefined && { retryInMs }),
    })
  }
}
