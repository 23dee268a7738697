import {
  type CallOptions,
  type CallResult,
  type Connection,
  type ConnectOptions,
  connect,
  isClientError,
  type Sign,
  type Target,
} from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import type { Clock } from '../clock.ts'
import { backoffMs } from './backoff.ts'
import { isSameServer, settingsOf, type UpstreamConfig, type UpstreamSettings } from './config.ts'
import { asUpstreamError, isAnswer, publicWordsOf, UpstreamError, type UpstreamReason, wordsOf } from './errors.ts'
import type { Emit, UpstreamState } from './events.ts'
import { Health } from './health.ts'
import type { Pace, Refresher } from './refresher.ts'
import type { UpstreamStatus } from './status.ts'
import { following, ToolList } from './tool-list.ts'
import { Turns } from './turns.ts'
import { Waiting } from './waiting.ts'

/** One protocol session with an upstream. */
export type UpstreamConnection = Pick<
  Connection,
  | 'era'
  | 'protocolVersion'
  | 'server'
  | 'instructions'
  | 'capabilities'
  | 'pid'
  | 'refresh'
  | 'watch'
  | 'ping'
  | 'call'
  | 'close'
  | 'onOver'
> &
  Partial<Pick<Connection, 'request' | 'subscribe' | 'unsubscribe'>>

export interface UpstreamOptions {
  readonly name: string
  readonly config: UpstreamConfig
  /** Its tools as they were known last: they are listed until it says otherwise. */
  readonly known?: readonly Tool[] | undefined
  readonly clock: Clock
  /** Between 0 and 1. */
  readonly random: () => number
  readonly emit: Emit
  /** What connecting takes beside what the configuration says. */
  readonly connect?: Pick<ConnectOptions, 'clientInfo' | 'elicit' | 'relays' | 'onProcess' | 'maxMessageBytes'>
  readonly pace?: Partial<Pace> | undefined
  /** How it is reached; over the network or as a process by default. */
  readonly open?: (target: Target, options: ConnectOptions) => Promise<UpstreamConnection>
}

export type UpstreamCall = Pick<CallOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'maxTimeoutMs' | 'relay' | 'meta'>

/** What there is while it is connected. */
interface Life {
  readonly connection: UpstreamConnection
  readonly refresher: Refresher<readonly Tool[]>
  readonly health: Health
}

// One that ends sooner has not recovered.
const steadyMs = 10_000
const failedAfter = 6
const loginRetryMs = 300_000
// A call waits so long for one that is about to come back.
const patienceMs = 5_000
// Reading before it can be heard would mean to read twice; but it need not be able to.
const listenMs = 1_000

/**
 * One server behind the gateway, for as long as it is configured: it is started, watched, restarted when it is lost, and its
 * tools are followed. Its tools stay listed for a short time when it is lost, so that one that is back soon is never missed.
 */
export class Upstream {
  readonly name: string
  readonly #options: UpstreamOptions
  readonly #list: ToolList
  readonly #turns: Turns
  readonly #waiting: Waiting<Life>
  readonly #timers = new Map<'retry' | 'grace' | 'steady' | 'sweep' | 'idle', () => void>()
  #config: UpstreamConfig
  #settings: UpstreamSettings
  #state: UpstreamState = 'stopped'
  #since: number
  #lastError: string | undefined
  /** The same without anything that is not for everybody. */
  #why: string | undefined
  #retryAt: number | undefined
  #failures = 0
  #life: Life | undefined
  #attempt: AbortController | undefined
  #hasWarned = false
  /** What was opened and is being closed. */
  readonly #closing = new Set<Promise<unknown>>()

  constructor(options: UpstreamOptions) {
    const { name, config, known = [], emit, clock } = options
    this.name = name
    this.#options = options
    this.#config = config
    this.#settings = settingsOf(config)
    this.#since = clock.now()
    this.#list = new ToolList(config.disabled === true ? [] : known, { upstream: name, emit })
    this.#turns = new Turns(() => this.#settings)
    this.#waiting = new Waiting(clock)
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

  /** The protocol session there is, for prompts, resources and what else passes through. */
  get connection(): UpstreamConnection | undefined {
    return this.#life?.connection
  }

  get status(): UpstreamStatus {
    const now = this.#options.clock.now()
    const connection = this.#life?.connection
    const slowedMs = this.#life?.refresher.delayMs ?? 0
    return {
      name: this.name,
      state: this.#state,
      forMs: Math.round(now - this.#since),
      tools: this.tools.length,
      calls: { running: this.#turns.running, waiting: this.#turns.waiting },
      ...(this.#lastError !== undefined && { lastError: this.#lastError }),
      ...(this.#retryAt !== undefined && { nextRetryInMs: Math.max(0, Math.round(this.#retryAt - now)) }),
      ...(slowedMs > 0 && { slowedMs }),
      ...(connection !== undefined && {
        server: connection.server.name,
        protocolVersion: connection.protocolVersion,
        era: connection.era,
        announcesChanges: announces(connection),
        ...(connection.pid !== undefined && { pid: connection.pid }),
      }),
    }
  }

  /** Begins: it is started, or sleeps until the first call if its tools are known. `isUnsure` starts it in any case. */
  start({ isUnsure = false }: { readonly isUnsure?: boolean } = {}): void {
    if (this.#config.disabled === true) {
      this.#enter('disabled')
      return
    }
    const isKnown = this.#options.known !== undefined && !isUnsure
    if (this.#settings.start === 'lazy' && isKnown) this.#enter('sleeping')
    else this.#connect('starting')
  }

  /** Starts it anew, whatever it is doing. */
  restart(): void {
    if (this.#state === 'disabled' || this.#state === 'stopped') return
    this.#end()
    this.#failures = 0
    this.#connect('starting')
  }

  /** Takes other settings into use. False when they are for another server: then this one cannot go on. */
  adjust(config: UpstreamConfig): boolean {
    if (!isSameServer(this.#config, config)) return false
    this.#config = config
    this.#settings = settingsOf(config)
    if (this.#life === undefined) return true
    this.#planSweep()
    this.#planSleep()
    return true
  }

  /** Reads its tools now, and starts it for that if it sleeps. */
  async discover(): Promise<readonly Tool[]> {
    const { refresher } = await this.#alive(undefined)
    return refresher.now()
  }

  /** Calls a tool by the name that the upstream gave it. All that can go wrong is an `UpstreamError`. */
  async call(tool: string, args: Readonly<Record<string, unknown>>, options: UpstreamCall = {}): Promise<CallResult> {
    const { clock, emit } = this.#options
    const begun = clock.now()
    let outcome: UpstreamReason | 'ok' | 'error' = 'ok'
    try {
      const result = await this.#call(tool, args, options)
      if (result.isError) outcome = 'error'
      return result
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
      return await this.#inTurn(signal, async () => {
        const { connection, health } = await this.#alive(signal)
        const { timeoutMs } = this.#settings
        return observed(health, () => connection.request?.(method, params, { timeoutMs, ...options }))
      })
    } catch (error) {
      throw asUpstreamError(this.name, method, error)
    }
  }

  /** Ends it. Resolves when its process is gone. */
  async close(): Promise<void> {
    this.#end()
    this.#enter('stopped')
    this.#waiting.reject(this.#error('unavailable', 'is no longer part of this gateway.'))
    await Promise.all(this.#closing)
  }

  #call(tool: string, args: Readonly<Record<string, unknown>>, options: UpstreamCall): Promise<CallResult> {
    const { signal } = options
    return this.#inTurn(signal, async () => this.#sent(await this.#alive(signal), { tool, args, options }))
  }

  /** Does it when there is room for it. */
  async #inTurn<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const leave = await this.#turns.enter(signal).catch((error: unknown) => {
      throw this.#error('cancelled', 'was not called: it was cancelled before its turn came.', { cause: error })
    })
    if (leave === undefined) {
      const { concurrency, queue } = this.#settings
      throw this.#error(
        'busy',
        `has too much to do: ${concurrency} calls are running and ${queue} are waiting. Nothing was done; call it again later.`,
        { retryAfterMs: 1_000 },
      )
    }
    try {
      return await work()
    } finally {
      leave()
      this.#planSleep()
    }
  }

  async #sent(
    { connection, health, refresher }: Life,
    { tool, args, options }: { tool: string; args: Readonly<Record<string, unknown>>; options: UpstreamCall },
  ): Promise<CallResult> {
    const { timeoutMs } = this.#settings
    try {
      // The server itself knows best what it takes.
      return await observed(health, () => connection.call(tool, args, { timeoutMs, ...options, validate: false, unlisted: true }))
    } catch (error) {
      // It has changed without a word.
      if (isClientError(error, 'unknown_tool') && this.tools.some(({ name }) => name === tool)) refresher.notice()
      throw error
    }
  }

  /** What is connected; waits for it when that is not long. */
  #alive(signal: AbortSignal | undefined): Promise<Life> {
    if (this.#life !== undefined) return Promise.resolve(this.#life)
    if (this.#state === 'sleeping') this.#connect('starting')
    const now = this.#options.clock.now()
    const retryInMs = this.#retryAt === undefined ? 0 : this.#retryAt - now
    if (this.#state === 'disabled') throw this.#error('disabled', 'is disabled. Ask the person who runs it to enable it.')
    if (this.#state === 'stopped') throw this.#error('unavailable', 'is no longer part of this gateway.')
    if (this.#state === 'needs_login') throw this.#login()
    if (retryInMs > patienceMs) throw this.#away(retryInMs)
    return this.#waiting.join({
      ms: this.#state === 'starting' ? this.#settings.startTimeoutMs : patienceMs,
      signal,
      late: () => this.#away(patienceMs),
      cancelled: () => this.#error('cancelled', 'was not called: it was cancelled before it was there.'),
    })
  }

  #away(retryAfterMs: number): UpstreamError {
    const soon = `Nothing was done; it is tried again within ${Math.ceil(retryAfterMs / 1_000)} s.`
    const why = this.#why === undefined ? '' : ` ${this.#why}`
    return this.#error('unavailable', `is not there (${this.#state}).${why} ${soon}`, { retryAfterMs: Math.round(retryAfterMs) })
  }

  #login(): UpstreamError {
    return this.#error('needs_login', 'wants a login. Ask the person who runs it to log in.')
  }

  #error(reason: UpstreamReason, message: string, options: ErrorOptions & { retryAfterMs?: number } = {}): UpstreamError {
    return new UpstreamError(this.name, reason, message, options)
  }

  #connect(state: UpstreamState): void {
    this.#stop('retry')
    this.#retryAt = undefined
    this.#enter(state)
    const attempt = new AbortController()
    this.#attempt = attempt
    const { emit, clock, connect: extra, open = connect } = this.#options
    const { target, protocol } = this.#config
    const upstream = this.name
    const begun = clock.now()
    const opening = open(target, {
      ...extra,
      name: upstream,
      timeoutMs: this.#settings.startTimeoutMs,
      signal: attempt.signal,
      onStderr: (line) => emit('stderr', { upstream, line }),
      onWarning: (message) => emit('warning', { upstream, message }),
      onLog: (entry) => emit('log', { upstream, entry }),
      onDocuments: (notice) => emit('documents', { upstream, notice }),
      ...(protocol !== undefined && { protocol }),
    })
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

  #connected(connection: UpstreamConnection, ms: number): void {
    const { emit, clock, random, pace } = this.#options
    const upstream = this.name
    const health = new Health({
      ping: (timeoutMs) => connection.ping({ timeoutMs }),
      lost: (error) => this.#lost(error, life),
      isBusy: () => this.#turns.running > 0,
      settings: () => this.#settings,
      clock,
      random,
    })
    const heard = (): void => health.heard()
    const begun = clock.now()
    let isListed = false
    const found = ({ length: total }: readonly Tool[]): void => {
      if (isListed) return
      isListed = true
      emit('listed', { upstream, total, ms: Math.round(clock.now() - begun) })
    }
    const refresher = following({ upstream, emit, list: this.#list, connection, clock, random, pace, heard, found })
    const life: Life = { connection, refresher, health }
    this.#life = life
    this.#stop('grace')
    const { server, protocolVersion } = connection
    emit('connected', {
      upstream,
      server: server.name,
      protocolVersion,
      announcesChanges: announces(connection),
      ms: Math.round(ms),
    })
    // Asking once more is how to hear why it is over.
    connection.onOver(() => {
      connection.ping().catch((error: unknown) => this.#lost(error, life))
    })
    if (this.#life !== life) return
    this.#enter('ready')
    this.#after('steady', steadyMs, () => {
      this.#failures = 0
      this.#lastError = undefined
      this.#why = undefined
    })
    this.#planSweep()
    this.#planSleep()
    void this.#follow(life)
    this.#waiting.resolve(life)
  }

  async #follow(life: Life): Promise<void> {
    const heard = life.connection.watch((sign) => this.#saw(life, sign))
    let stopTimer: () => void = () => undefined
    const enough = new Promise<void>((resolve) => {
      stopTimer = this.#options.clock.after(listenMs, resolve)
    })
    await Promise.race([heard, enough]).catch(() => undefined)
    stopTimer()
    // A failure is told and tried again, or it is over.
    await life.refresher.now().catch(() => undefined)
  }

  #saw(life: Life, sign: Sign): void {
    if (this.#life !== life) return
    if (sign === 'broken') {
      life.health.suspect()
      return
    }
    if (sign === 'changed') this.#noticed(announces(life.connection))
    else this.#options.emit('documents', { upstream: this.name, notice: { kind: 'unsure' } })
    life.refresher.notice()
  }

  #noticed(isDeclared: boolean): void {
    const { emit } = this.#options
    emit('notice', { upstream: this.name, isDeclared })
    if (isDeclared || this.#hasWarned) return
    this.#hasWarned = true
    const message =
      'It says that its tools changed, and had not declared that it would (tools.listChanged). It is followed all the same.'
    emit('warning', { upstream: this.name, message })
  }

  /** It could not be reached, or is not there any more. */
  #lost(error: unknown, life?: Life): void {
    if (life !== this.#life || this.#state === 'stopped') return
    this.#end()
    this.#failures++
    this.#lastError = wordsOf(error)
    this.#why = publicWordsOf(error)
    const { clock, random } = this.#options
    const isLogin = isClientError(error, 'login_required')
    const delay = isLogin ? loginRetryMs : backoffMs(this.#failures, random)
    const state = isLogin ? 'needs_login' : this.#failures >= failedAfter ? 'failed' : 'reconnecting'
    this.#retryAt = clock.now() + delay
    this.#after('retry', delay, () => this.#connect(state))
    if (!this.#timers.has('grace'))
      this.#after('grace', this.#settings.graceMs, () => this.#list.replace([], { looks: 0, ms: this.#settings.graceMs }))
    this.#enter(state)
    if (isLogin) this.#waiting.reject(this.#login())
    else if (delay > patienceMs) this.#waiting.reject(this.#away(delay))
  }

  /** Lets go of all there is, except the list and the time it has left. */
  #end(): void {
    this.#attempt?.abort()
    for (const timer of ['retry', 'steady', 'sweep', 'idle'] as const) this.#stop(timer)
    this.#retryAt = undefined
    const life = this.#life
    this.#life = undefined
    if (life === undefined) return
    life.refresher.close()
    life.health.close()
    this.#closes(life.connection.close())
  }

  #closes(closing: Promise<unknown>): void {
    const settled = closing.catch(() => undefined).finally(() => this.#closing.delete(settled))
    this.#closing.add(settled)
  }

  #planSweep(): void {
    const { sweepMs } = this.#settings
    this.#stop('sweep')
    if (sweepMs <= 0) return
    this.#after('sweep', sweepMs * (0.9 + 0.2 * this.#options.random()), () => {
      void this.#life?.refresher.now()
      this.#options.emit('documents', { upstream: this.name, notice: { kind: 'unsure' } })
      this.#planSweep()
    })
  }

  #planSleep(): void {
    const { idleStopMs } = this.#settings
    this.#stop('idle')
    if (idleStopMs <= 0 || this.#life === undefined || this.#turns.running > 0) return
    this.#after('idle', idleStopMs, () => {
      this.#end()
      this.#enter('sleeping')
    })
  }

  #after(timer: 'retry' | 'grace' | 'steady' | 'sweep' | 'idle', ms: number, work: () => void): void {
    this.#stop(timer)
    const due = (): void => {
      this.#timers.delete(timer)
      work()
    }
    // One that is to be started again is worth staying for.
    this.#timers.set(timer, this.#options.clock.after(ms, due, timer !== 'retry'))
  }

  #stop(timer: 'retry' | 'grace' | 'steady' | 'sweep' | 'idle'): void {
    this.#timers.get(timer)?.()
    this.#timers.delete(timer)
  }

  #enter(state: UpstreamState): void {
    if (state === 'stopped' || state === 'disabled') this.#stop('grace')
    if (state === this.#state && state !== 'reconnecting' && state !== 'failed') return
    const { clock, emit } = this.#options
    if (state !== this.#state) this.#since = clock.now()
    this.#state = state
    const isTrouble = state === 'reconnecting' || state === 'failed' || state === 'needs_login'
    const retryInMs = this.#retryAt === undefined ? undefined : Math.round(this.#retryAt - clock.now())
    // While it is being tried there is nothing new to tell.
    if (isTrouble && retryInMs === undefined) return
    emit('state', {
      upstream: this.name,
      state,
      ...(isTrouble && this.#lastError !== undefined && { error: this.#lastError }),
      ...(retryInMs !== undefined && { retryInMs }),
    })
  }
}

/** Asks it for something, and takes what becomes of it for a sign of life or of the lack of it. */
async function observed<T>(health: Health, ask: () => T): Promise<Awaited<T>> {
  try {
    const result = await ask()
    health.heard()
    return result
  } catch (error) {
    if (isAnswer(error)) health.heard()
    else if (!isClientError(error, 'cancelled')) health.suspect()
    throw error
  }
}

const announces = ({ capabilities }: UpstreamConnection): boolean => capabilities.tools?.listChanged === true
