import type { Clock } from '@unfold-mcp/client'
import { type CallResult, type ConnectionEvent, isClientError } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import { errorMessage } from '../../base/error-message.ts'
import { measureRead } from '../../base/stopwatch.ts'
import type { UpstreamSettings } from '../config.ts'
import type { ListReads, UpstreamCall, UpstreamConnection } from '../connection.ts'
import { isServerResponse } from '../errors.ts'
import type { Emit } from '../events.ts'
import type { UpstreamStatus } from '../status.ts'
import type { FollowBudget } from './follow-budget.ts'
import { Health } from './health.ts'
import { type Pace, Refresher } from './refresher.ts'
import type { ToolList } from './tool-list.ts'

export interface LiveConnectionOptions {
  readonly upstream: string
  readonly connection: UpstreamConnection
  readonly list: ToolList
  readonly settings: () => UpstreamSettings
  /** A busy server may not answer pings. */
  readonly isBusy: () => boolean
  readonly emit: Emit
  /** Called for `notifications/tools/list_changed`. */
  readonly listChanged: () => void
  /** Called after `tools/list`, with the error if it failed. */
  readonly listed: (error: string | undefined) => void
  readonly lost: (error: unknown) => void
  readonly clock: Clock
  readonly random: () => number
  readonly pace?: Partial<Pace> | undefined
  readonly budget: FollowBudget
  /** Default: this replica reads the lists itself. */
  readonly reads?: ListReads | undefined
}

// Listing before notifications arrive would mean listing twice, but not all servers support them.
const listenMs = 1_000

/** A connected upstream: keeps its tool list up to date and checks its health. */
export class LiveConnection {
  readonly connection: UpstreamConnection
  readonly #options: LiveConnectionOptions
  readonly #health: Health
  readonly #refresher: Refresher<readonly Tool[]>
  readonly #connectedAt: number
  /** When the server announced a change that was not read yet. */
  #changedAt: number | undefined
  #isListed = false
  #hasRead = false
  #firstRead: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: LiveConnectionOptions) {
    const { connection, settings, isBusy, lost, clock, random } = options
    this.connection = connection
    this.#options = options
    this.#connectedAt = clock.now()
    this.#health = new Health({ ping: (timeoutMs) => connection.ping({ timeoutMs }), lost, isBusy, settings, clock, random })
    this.#refresher = this.#createRefresher()
  }

  /** True if the server declares `tools.listChanged`. */
  get announcesChanges(): boolean {
    return this.connection.capabilities.tools?.listChanged === true
  }

  /** What is known only while it is connected. */
  get status(): Partial<UpstreamStatus> {
    const { server, protocolVersion, era, pid } = this.connection
    const { delayMs: throttleMs } = this.#refresher
    const { slowdown } = this.#options.budget
    return {
      server: server.name,
      protocolVersion,
      era,
      announcesChanges: this.announcesChanges,
      ...(throttleMs > 0 && { throttleMs }),
      ...(slowdown !== undefined && { slowdown }),
      ...(pid !== undefined && { pid }),
    }
  }

  /** True if its tools have been read. */
  get isListed(): boolean {
    return this.#isListed
  }

  /** True after the first attempt to read its tools. */
  get hasRead(): boolean {
    return this.#hasRead
  }

  /** Resolves after the first attempt to read its tools. */
  get firstRead(): Promise<void> {
    return this.#firstRead
  }

  /** Watches the connection and reads its tools. */
  start(): void {
    // A ping reveals why the connection ended.
    this.connection.onClose(() => {
      this.connection.ping().catch(this.#options.lost)
    })
    this.#firstRead = this.#listen()
  }

  /** Lists the tools now. */
  refresh(): Promise<readonly Tool[]> {
    return this.#refresher.readNow()
  }

  async call(tool: string, args: Readonly<Record<string, unknown>>, options: UpstreamCall): Promise<CallResult> {
    const { settings, list } = this.#options
    const { timeoutMs } = settings()
    // The server validates the arguments.
    const callOptions = { timeoutMs, ...options, validate: false, unlisted: true }
    try {
      const result = await this.connection.call(tool, args, callOptions)
      this.#health.active()
      return result
    } catch (error) {
      this.#failed(error)
      // The tools changed without a notification.
      if (isClientError(error, 'unknown_tool') && list.tools.some(({ name }) => name === tool)) this.#refresher.notify()
      throw error
    }
  }

  /** Sends a request other than tools/call. */
  async request(method: string, params: Readonly<Record<string, unknown>>, options: UpstreamCall): Promise<unknown> {
    const { timeoutMs } = this.#options.settings()
    try {
      const result = await this.connection.request?.(method, params, { timeoutMs, ...options })
      this.#health.active()
      return result
    } catch (error) {
      this.#failed(error)
      throw error
    }
  }

  close(): Promise<void> {
    this.#isClosed = true
    this.#refresher.close()
    this.#health.close()
    return this.connection.close()
  }

  #createRefresher(): Refresher<readonly Tool[]> {
    const { upstream, connection, list, emit, listed, clock, random, pace, budget } = this.#options
    const cost = { received: () => connection.received ?? 0, charge: (ms: number) => budget.charge(ms) }
    return new Refresher<readonly Tool[]>({
      read: async (signal) => {
        const tools = await measureRead(() => this.#read(signal), cost)
        this.#health.active()
        return tools
      },
      differs: (tools) => list.differs(tools),
      publish: (tools, work) => list.replace(tools, work),
      succeeded: ({ length: total }) => {
        listed(undefined)
        if (this.#isListed) return
        this.#isListed = true
        emit('listed', { upstream, total, ms: Math.round(clock.now() - this.#connectedAt) })
      },
      failed: (error, attempt, retryInMs) => {
        const message = listErrorMessage(error)
        emit('list_failed', { upstream, error: message, attempt, retryInMs: Math.round(retryInMs) })
        // An ended process is reported by `lost`.
        if (!isClientError(error, 'server_died')) listed(message)
      },
      throttled: (delayMs) => emit('throttled', { upstream, delayMs }),
      clock,
      random,
      budget,
      ...(pace !== undefined && { pace }),
    })
  }

  #read(signal: AbortSignal | undefined): Promise<readonly Tool[]> {
    const { upstream, connection, reads, clock } = this.#options
    const changedMs = this.#changedAt === undefined ? 0 : clock.now() - this.#changedAt
    this.#changedAt = undefined
    return reads === undefined ? connection.refresh(signal) : reads.read(upstream, connection, { changedMs, signal })
  }

  async #listen(): Promise<void> {
    const watching = this.connection.watch((sign) => this.#onSign(sign))
    let stopTimer: () => void = () => undefined
    const timeout = new Promise<void>((resolve) => {
      stopTimer = this.#options.clock.after(listenMs, resolve)
    })
    await Promise.race([watching, timeout]).catch(() => undefined)
    stopTimer()
    // The refresher reports failures and retries.
    await this.#refresher.readNow().catch(() => undefined)
    this.#hasRead = true
  }

  #onSign(sign: ConnectionEvent): void {
    if (this.#isClosed) return
    if (sign === 'broken') {
      this.#health.check()
      return
    }
    const { upstream, emit, listChanged, clock } = this.#options
    this.#changedAt = sign === 'changed' ? clock.now() : undefined
    if (sign === 'changed') listChanged()
    else emit('documents', { upstream, notice: { kind: 'resync' } })
    this.#refresher.notify()
  }

  #failed(error: unknown): void {
    if (isServerResponse(error)) this.#health.active()
    else if (!isClientError(error, 'cancelled')) this.#health.check()
  }
}

function listErrorMessage(error: unknown): string {
  if (!isClientError(error, 'protocol')) return errorMessage(error)
  const { problem, code } = error.details
  return `${errorMessage(problem)}${code === undefined ? '' : ` (${code})`}`
}
