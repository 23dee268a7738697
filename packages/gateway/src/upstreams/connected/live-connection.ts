import type { Clock } from '@unfold-mcp/client'
import { type CallResult, isClientError, type Sign } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import { errorMessage } from '../../base/error-message.ts'
import type { UpstreamSettings } from '../config.ts'
import type { UpstreamCall, UpstreamConnection } from '../connection.ts'
import { isAnswer } from '../errors.ts'
import type { Emit } from '../events.ts'
import { Health } from './health.ts'
import { type Pace, Refresher } from './refresher.ts'
import type { ToolList } from './tool-list.ts'

export interface LiveConnectionOptions {
  readonly upstream: string
  readonly connection: UpstreamConnection
  /** Where its tools are listed. */
  readonly list: ToolList
  readonly settings: () => UpstreamSettings
  /** Whether it works on something: then it may have no time to answer. */
  readonly isBusy: () => boolean
  readonly emit: Emit
  /** It says that its tools changed. */
  readonly noticed: () => void
  /** `tools/list` was answered, or failed with an error. */
  readonly listed: (error: string | undefined) => void
  /** It is not there any more. */
  readonly lost: (error: unknown) => void
  readonly clock: Clock
  readonly random: () => number
  readonly pace?: Partial<Pace> | undefined
}

// JoinedText before it can be heard would mean to read twice; but it need not be able to.
const listenMs = 1_000

/** An upstream while it is connected: its tools are followed into its list, and it is seen to that it still lives. */
export class LiveConnection {
  readonly connection: UpstreamConnection
  readonly #options: LiveConnectionOptions
  readonly #health: Health
  readonly #refresher: Refresher<readonly Tool[]>
  readonly #begun: number
  #isListed = false
  #isClosed = false

  constructor(options: LiveConnectionOptions) {
    const { connection, settings, isBusy, lost, clock, random } = options
    this.connection = connection
    this.#options = options
    this.#begun = clock.now()
    this.#health = new Health({ ping: (timeoutMs) => connection.ping({ timeoutMs }), lost, isBusy, settings, clock, random })
    this.#refresher = this.#following()
  }

  /** Whether it says by itself when its tools change. */
  get announcesChanges(): boolean {
    return this.connection.capabilities.tools?.listChanged === true
  }

  /** How much it is slowed down because it never comes to rest. */
  get slowedMs(): number {
    return this.#refresher.delayMs
  }

  /** Watches for its end, listens to it, and reads its tools. */
  begin(): void {
    // Asking once more is how to hear why it is over.
    this.connection.onOver(() => {
      this.connection.ping().catch(this.#options.lost)
    })
    void this.#listen()
  }

  /** Reads its tools, whatever is known of them. */
  read(): Promise<readonly Tool[]> {
    return this.#refresher.now()
  }

  /** Calls a tool. */
  async call(tool: string, args: Readonly<Record<string, unknown>>, options: UpstreamCall): Promise<CallResult> {
    const { settings, list } = this.#options
    const { timeoutMs } = settings()
    // The server itself knows best what it takes.
    const how = { timeoutMs, ...options, validate: false, unlisted: true }
    try {
      const result = await this.connection.call(tool, args, how)
      this.#health.heard()
      return result
    } catch (error) {
      this.#failed(error)
      // It has changed without a word.
      if (isClientError(error, 'unknown_tool') && list.tools.some(({ name }) => name === tool)) this.#refresher.notice()
      throw error
    }
  }

  /** Asks for what is no tool. */
  async request(method: string, params: Readonly<Record<string, unknown>>, options: UpstreamCall): Promise<unknown> {
    const { timeoutMs } = this.#options.settings()
    try {
      const result = await this.connection.request?.(method, params, { timeoutMs, ...options })
      this.#health.heard()
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

  #following(): Refresher<readonly Tool[]> {
    const { upstream, connection, list, emit, listed, clock, random, pace } = this.#options
    return new Refresher<readonly Tool[]>({
      read: async (signal) => {
        const tools = await connection.refresh(signal)
        this.#health.heard()
        return tools
      },
      differs: (tools) => list.differs(tools),
      publish: (tools, work) => list.replace(tools, work),
      found: ({ length: total }) => {
        listed(undefined)
        if (this.#isListed) return
        this.#isListed = true
        emit('listed', { upstream, total, ms: Math.round(clock.now() - this.#begun) })
      },
      failed: (error, attempt, retryInMs) => {
        const text = listErrorOf(error)
        emit('list_failed', { upstream, error: text, attempt, retryInMs: Math.round(retryInMs) })
        // That its process has ended is another matter.
        if (!isClientError(error, 'server_died')) listed(text)
      },
      throttled: (delayMs) => emit('throttled', { upstream, delayMs }),
      clock,
      random,
      ...(pace !== undefined && { pace }),
    })
  }

  async #listen(): Promise<void> {
    const heard = this.connection.watch((sign) => this.#saw(sign))
    let stopTimer: () => void = () => undefined
    const enough = new Promise<void>((resolve) => {
      stopTimer = this.#options.clock.after(listenMs, resolve)
    })
    await Promise.race([heard, enough]).catch(() => undefined)
    stopTimer()
    // A failure is told and tried again, or it is over.
    await this.#refresher.now().catch(() => undefined)
  }

  #saw(sign: Sign): void {
    if (this.#isClosed) return
    if (sign === 'broken') {
      this.#health.suspect()
      return
    }
    const { upstream, emit, noticed } = this.#options
    if (sign === 'changed') noticed()
    else emit('documents', { upstream, notice: { kind: 'resync' } })
    this.#refresher.notice()
  }

  /** What it did not do is a sign of live, or of the lack of it. */
  #failed(error: unknown): void {
    if (isAnswer(error)) this.#health.heard()
    else if (!isClientError(error, 'cancelled')) this.#health.suspect()
  }
}

/** What an error of `tools/list` says; that it is one is said already. */
function listErrorOf(error: unknown): string {
  if (!isClientError(error, 'protocol')) return errorMessage(error)
  const { problem, code } = error.details
  return `${errorMessage(problem)}${code === undefined ? '' : ` (${code})`}`
}
