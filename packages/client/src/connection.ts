import type { Client, LoggingMessageNotificationParams, ServerCapabilities } from '@modelcontextprotocol/client'
import { discovery, printable, type Tool } from '@unfold-mcp/core'
import type { CachedTools, CacheKey, ToolCache } from './cache/cache.ts'
import { isUnknownMethod } from './errors/conversion.ts'
import { type ClientError, isClientError } from './errors/errors.ts'
import type { ElicitationQueue } from './session/elicitation.ts'
import { type ForwardOptions, forwardRequest } from './session/forward.ts'
import type { ResumableSession } from './session/handshake.ts'
import { RenewableSession } from './session/renewable-session.ts'
import { ResourceSubscriptions } from './session/resource-subscriptions.ts'
import type { Era, ServerInfo, Session } from './session/session.ts'
import type { Clock } from './time/clock.ts'
import { withDeadline } from './time/deadline.ts'
import { Announcements, type ConnectionEvent } from './tools/announcements.ts'
import { type CallOptions, type CallResult, callTool } from './tools/call.ts'
import type { Changes, FollowOptions } from './tools/changes.ts'
import { type Description, describeTool, parseDescription } from './tools/description.ts'
import { type Identity, knowsIdentity } from './tools/identity.ts'
import { KnownTools } from './tools/known-tools.ts'
import { type Outline, outlineIn } from './tools/outline.ts'
import { listedTool, resolveTool } from './tools/resolve.ts'

/** Log message sent by a server. */
export type LogEntry = LoggingMessageNotificationParams

export interface ConnectionParts {
  readonly session: Session
  /** Opens another session with the same server. */
  readonly reconnect: () => Promise<Session>
  readonly clock: Clock
  readonly timeoutMs: number
  readonly maxMessageBytes: number
  readonly onWarning: (warning: string) => void
  readonly elicitations: ElicitationQueue | undefined
  readonly cache: ToolCache | undefined
  readonly key: CacheKey | undefined
  readonly cached: Promise<CachedTools | undefined>
  readonly expectIdentity: string | undefined
  /** Subscribe to changes of prompts and resources. */
  readonly watchesDocuments: boolean
}

const closeTimeoutMs = 2_000
const listFactor = 8

/**
 * Connection to a server: its tools, listed with as few requests as possible, and calls. An HTTP session that the server has lost
 * is replaced by a new one; a process that exits is not restarted.
 */
export class Connection implements AsyncDisposable {
  readonly #parts: ConnectionParts
  readonly #session: RenewableSession
  readonly #tools: KnownTools
  readonly #announcements: Announcements
  readonly #subscriptions: ResourceSubscriptions
  readonly #closeListeners = new Set<() => void>()
  #closing: Promise<void> | undefined

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    const { reconnect, clock, timeoutMs, maxMessageBytes, onWarning, watchesDocuments } = parts
    const { cache, key, cached, expectIdentity } = parts
    const session = new RenewableSession(parts.session, {
      replaced: (next) => {
        this.#follow(next)
        this.#subscriptions.renew(next)
        this.#announcements.resume(next)
      },
      ...{ reconnect, clock, timeoutMs, onWarning },
    })
    this.#session = session
    this.#tools = new KnownTools({
      use: (work) => session.use(work),
      receivesChanges: () => this.#announcements.areReceived,
      maxBytes: maxMessageBytes * listFactor,
      ...{ clock, timeoutMs, onWarning, cache, key, cached, expectIdentity },
    })
    this.#announcements = new Announcements({ session, tools: this.#tools, clock, timeoutMs, onWarning, watchesDocuments })
    this.#subscriptions = new ResourceSubscriptions({
      session: () => session.current(),
      isReplaced: (old, error) => session.isReplaced(old, error),
      request: (method, params) => this.request(method, params, { timeoutMs }),
      ...{ clock, timeoutMs },
    })
    this.#follow(parts.session)
  }

  get era(): Era {
    return this.#session.latest.agreement.era
  }

  /** Negotiated protocol version. */
  get protocolVersion(): string {
    return this.#session.latest.agreement.protocolVersion
  }

  get server(): ServerInfo {
    return this.#session.latest.agreement.server
  }

  get instructions(): string | undefined {
    return this.#session.latest.agreement.instructions
  }

  get capabilities(): ServerCapabilities {
    return this.#session.latest.agreement.capabilities
  }

  /** SDK client, for prompts, resources and everything this library does not wrap. Replaced when a new session starts. */
  get client(): Client {
    return this.#session.latest.client
  }

  /** Session that a later connection can resume, if the server has one. */
  get session(): ResumableSession | undefined {
    const { sessionId: id, agreement, isClosed } = this.#session.latest
    return id === undefined || isClosed ? undefined : { id, agreement }
  }

  /** Process id of a server that was started for this connection. */
  get pid(): number | undefined {
    return this.#session.latest.pid
  }

  /** Bytes received in the current session. */
  get received(): number {
    return this.#session.latest.received
  }

  /** True when the connection is closed and cannot be renewed. */
  get isClosed(): boolean {
    return this.#session.isClosed
  }

  /** Returns the current tools; sends a request only when they may have changed. */
  tools(): Promise<readonly Tool[]> {
    return this.#tools.current()
  }

  /** Returns one tool; throws `unknown_tool` when it is not listed. */
  tool(name: string): Promise<Tool> {
    return listedTool(this.#tools, name)
  }

  /** Requests the identity of the current tool list; `undefined` if the server does not support identities. */
  async identity(): Promise<Identity | undefined> {
    const identity = await this.#tools.requestIdentity()
    if (identity !== undefined && this.#tools.identity !== undefined && identity.server_id !== this.#tools.identity)
      this.#announcements.invalidate()
    return identity
  }

  /** Requests all tools available to this client, listed or not, with their groups; `undefined` if the server does not support it. */
  async outline(): Promise<Outline | undefined> {
    const identity = await this.#tools.requestIdentity({ outline: true })
    return identity === undefined ? undefined : outlineIn(identity)
  }

  /** Describes a tool: by asking the server, or from its definition if the server does not support descriptions. */
  async describe(name: string): Promise<Description> {
    if (!knowsIdentity(this.capabilities)) return describeTool(await this.tool(name))
    try {
      return await this.#session.use(async (session) => {
        const what = `Describing ${printable(name)}`
        return parseDescription(
          name,
          await session.request(discovery.methods.describe, { name }, { what, timeout: this.#parts.timeoutMs }),
        )
      })
    } catch (error) {
      if (!isUnknownMethod(error)) throw error
      return describeTool(await this.tool(name))
    }
  }

  /** Calls a tool. Arguments that do not match its schema are not sent; the error lists every problem. */
  async call(name: string, args: Readonly<Record<string, unknown>> = {}, options: CallOptions = {}): Promise<CallResult> {
    const isAsItIs = options.validate === false && options.unlisted === true
    const tool = isAsItIs ? this.#tools.named(name) : await resolveTool(this.#tools, name, args, options)
    const { clock, elicitations } = this.#parts
    // Some calls change the list and announce it late or never.
    this.#tools.forgetAnnounced()
    const send = (definition: Tool | undefined): Promise<CallResult> =>
      this.#session.use((session) => callTool(session, { name, args, tool: definition, clock, elicitations, options }))
    try {
      return await send(tool)
    } catch (error) {
      if (!isClientError(error, 'protocol') && !isClientError(error, 'unknown_tool')) throw error
      // The call may have been valid for a tool definition that has changed since.
      this.#tools.invalidate()
      if (!isHeaderMismatch(error)) throw error
      return send(await this.#tools.find(name))
    }
  }

  /** Sends any other request and returns its raw result. Failures are `ClientError`s. */
  request(method: string, params: Readonly<Record<string, unknown>>, options: ForwardOptions = {}): Promise<unknown> {
    return this.#session.use((session) => forwardRequest(session, { method, params, clock: this.#parts.clock, options }))
  }

  /** Subscribes to updates of a resource (see `onDocumentChange`); the subscription survives a new session. */
  subscribe(uri: string): Promise<void> {
    return this.#subscriptions.add(uri)
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#subscriptions.remove(uri)
  }

  /** Follows changes of the tool list, starting from the list read last, or from now if none was read. */
  changes(options?: FollowOptions): Changes {
    return this.#announcements.follow(options)
  }

  /** Reads the whole list from the server once, ignoring what is cached. */
  refresh(signal?: AbortSignal): Promise<readonly Tool[]> {
    return this.#tools.refresh(signal)
  }

  /**
   * Takes over a list that another client has just read from the same server.
   * @internal
   */
  adopt(tools: readonly Tool[]): void {
    this.#tools.adopt(tools)
  }

  /** Calls `listener` for each event until the returned function is called. Resolves when notifications arrive. */
  watch(listener: (event: ConnectionEvent) => void): Promise<() => void> {
    return this.#announcements.watch(listener)
  }

  /**
   * Checks that the server responds, with `ping` or (2026-07-28) `server/discover`. A session that the server has lost, or whose
   * protocol revision it no longer supports, is replaced.
   */
  async ping({ timeoutMs = this.#parts.timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<void> {
    const options = { timeout: timeoutMs, ...(signal !== undefined && { signal }) }
    await this.#session.ping(options)
  }

  /** Ends the session, and a process that was started for it. `keepSession` leaves the session on the server for a later connection. */
  close({ keepSession = false }: { readonly keepSession?: boolean } = {}): Promise<void> {
    this.#closing ??= this.#close(keepSession)
    this.#session.stop()
    return this.#closing
  }

  /** Calls `listener` once, when the connection cannot be used any more. */
  onClose(listener: () => void): void {
    if (this.isClosed) listener()
    else this.#closeListeners.add(listener)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(keepSession: boolean): Promise<void> {
    await this.#waitBriefly(Promise.all([this.#announcements.close(), this.#subscriptions.stop()]))
    const { latest } = this.#session
    if (!keepSession && this.session !== undefined) await this.#waitBriefly(latest.endSession())
    await latest.close()
    this.#handleClose()
  }

  async #waitBriefly(work: Promise<unknown>): Promise<void> {
    const { clock } = this.#parts
    await withDeadline(work, { what: 'Closing', hint: '', timeoutMs: closeTimeoutMs, clock }).catch(() => undefined)
  }

  #handleClose(): void {
    for (const listener of this.#closeListeners) listener()
    this.#closeListeners.clear()
  }

  #follow(session: Session): void {
    this.#announcements.receive(session)
    session.onClose(() => this.#handleSessionClose(session))
    this.#tools.sessionOpened(session)
  }

  #handleSessionClose(session: Session): void {
    if (session !== this.#session.latest || this.#closing !== undefined) return
    if (session.canRenew) {
      this.#announcements.invalidate('broken')
      return
    }
    void this.#subscriptions.stop()
    this.#announcements.fail(this.#session.closedError)
    this.#handleClose()
  }
}

/** The server rejected the call before running it because of its headers. */
const isHeaderMismatch = (error: ClientError): boolean => isClientError(error, 'protocol') && error.details.code === -32_020
