import type {
  Client,
  LoggingMessageNotificationParams,
  ServerCapabilities,
  SubscriptionFilter,
} from '@modelcontextprotocol/client'
import { discovery, nearest, nearestHint, printable, type Tool } from '@unfold-mcp/core'
import type { CachedTools, CacheKey, ToolCache } from './cache/cache.ts'
import { isUnknownMethod } from './errors/conversion.ts'
import { ClientError, connectionClosed, isClientError } from './errors/errors.ts'
import { validateArguments } from './schema/validate.ts'
import type { ElicitationQueue } from './session/elicitation.ts'
import { type ForwardOptions, forwardRequest } from './session/forward.ts'
import type { ResumableSession } from './session/handshake.ts'
import { SubscriptionListener } from './session/listener.ts'
import { ResourceSubscriptions } from './session/resource-subscriptions.ts'
import { isRefused, RevisionCheck } from './session/revision-check.ts'
import type { Era, ServerInfo, Session } from './session/session.ts'
import type { Clock } from './time/clock.ts'
import { withDeadline } from './time/deadline.ts'
import { type CallOptions, type CallResult, callTool } from './tools/call.ts'
import { ChangeFollower, type Changes, type FollowOptions, type ToolListSource } from './tools/changes.ts'
import { type Description, describeTool, parseDescription } from './tools/description.ts'
import { type Identity, knowsIdentity } from './tools/identity.ts'
import { KnownTools } from './tools/known-tools.ts'
import { type Outline, outlineIn } from './tools/outline.ts'

/**
 * Event for watchers of a connection. `changed`: the server announced a change of its tools. `resumed`: notifications arrive again,
 * and some may have been missed. `broken`: the stream of notifications broke.
 */
export type ConnectionEvent = 'changed' | 'resumed' | 'broken'

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
  readonly #tools: KnownTools
  readonly #followers = new Set<ChangeFollower>()
  readonly #watchers = new Set<(event: ConnectionEvent) => void>()
  readonly #closeListeners = new Set<() => void>()
  readonly #subscriptions: ResourceSubscriptions
  readonly #revisionCheck: RevisionCheck
  #session: Session
  #renewing: Promise<Session> | undefined
  /** The server refused a new session and requested a pause. */
  #paused: { readonly error: ClientError; readonly until: number } | undefined
  #listener: SubscriptionListener | undefined
  #listenerStopped: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.#session = parts.session
    const { clock, timeoutMs, maxMessageBytes, onWarning, cache, key, cached, expectIdentity } = parts
    this.#tools = new KnownTools({
      use: (work) => this.#use(work),
      receivesChanges: () => this.#receivesChanges,
      maxBytes: maxMessageBytes * listFactor,
      ...{ clock, timeoutMs, onWarning, cache, key, cached, expectIdentity },
    })
    this.#subscriptions = new ResourceSubscriptions({
      session: () => this.#current(),
      isReplaced: (session, error) => this.#revisionCheck.replaces(session, error),
      request: (method, params) => this.request(method, params, { timeoutMs }),
      clock,
      timeoutMs,
    })
    this.#revisionCheck = new RevisionCheck({
      reconnect: () => this.#reconnect(),
      replace: (old, next) => this.#replace(old, next),
      ...{ clock, timeoutMs },
    })
    this.#useSession(parts.session)
  }

  get era(): Era {
    return this.#session.agreement.era
  }

  /** Negotiated protocol version. */
  get protocolVersion(): string {
    return this.#session.agreement.protocolVersion
  }

  get server(): ServerInfo {
    return this.#session.agreement.server
  }

  get instructions(): string | undefined {
    return this.#session.agreement.instructions
  }

  get capabilities(): ServerCapabilities {
    return this.#session.agreement.capabilities
  }

  /** SDK client, for prompts, resources and everything this library does not wrap. Replaced when a new session starts. */
  get client(): Client {
    return this.#session.client
  }

  /** Session that a later connection can resume, if the server has one. */
  get session(): ResumableSession | undefined {
    const { sessionId: id, agreement } = this.#session
    return id === undefined || this.#session.isClosed ? undefined : { id, agreement }
  }

  /** Process id of a server that was started for this connection. */
  get pid(): number | undefined {
    return this.#session.pid
  }

  /** Bytes received in the current session. */
  get received(): number {
    return this.#session.received
  }

  /** True when the connection is closed and cannot be renewed. */
  get isClosed(): boolean {
    return this.#closing !== undefined || (this.#session.isClosed && !this.#session.canRenew)
  }

  /** Returns the current tools; sends a request only when they may have changed. */
  tools(): Promise<readonly Tool[]> {
    return this.#tools.current()
  }

  /** Returns one tool; throws `unknown_tool` when it is not listed. */
  async tool(name: string): Promise<Tool> {
    const known = this.#tools.named(name)
    if (known !== undefined && this.#tools.isFresh) return known
    const tools = await this.tools()
    return find(tools, name) ?? unknown(name, tools)
  }

  /** Requests the identity of the current tool list; `undefined` if the server does not support identities. */
  async identity(): Promise<Identity | undefined> {
    const identity = await this.#tools.requestIdentity()
    if (identity !== undefined && this.#tools.identity !== undefined && identity.server_id !== this.#tools.identity)
      this.#invalidate()
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
      return await this.#use(async (session) => {
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
    const tool = isAsItIs ? this.#tools.named(name) : await this.#resolveTool(name, args, options)
    const { clock, elicitations } = this.#parts
    // Some calls change the list and announce it late or never.
    this.#tools.forgetAnnounced()
    const send = (definition: Tool | undefined): Promise<CallResult> =>
      this.#use((session) => callTool(session, { name, args, tool: definition, clock, elicitations, options }))
    try {
      return await send(tool)
    } catch (error) {
      if (!isClientError(error, 'protocol') && !isClientError(error, 'unknown_tool')) throw error
      // The call may have been valid for a tool definition that has changed since.
      this.#tools.invalidate()
      if (!isHeaderMismatch(error)) throw error
      return send(find(await this.tools(), name))
    }
  }

  /** Sends any other request and returns its raw result. Failures are `ClientError`s. */
  request(method: string, params: Readonly<Record<string, unknown>>, options: ForwardOptions = {}): Promise<unknown> {
    return this.#use((session) => forwardRequest(session, { method, params, clock: this.#parts.clock, options }))
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
    const source: ToolListSource = {
      clock: this.#parts.clock,
      label: this.#session.label,
      receivesChanges: () => this.#receivesChanges,
      latest: () => this.#tools.latest,
      identity: () => this.#tools.identity,
      current: () => this.#tools.current(),
      invalidate: () => this.#tools.invalidate(),
      attach: (follower) => this.#attach(follower),
      detach: (follower) => this.#detach(follower),
    }
    return new ChangeFollower(source, options)
  }

  /** Reads the whole list from the server once, ignoring what is cached. */
  refresh(signal?: AbortSignal): Promise<readonly Tool[]> {
    return this.#tools.refresh(signal)
  }

  /** Calls `listener` for each event until the returned function is called. Resolves when notifications arrive. */
  async watch(listener: (event: ConnectionEvent) => void): Promise<() => void> {
    this.#watchers.add(listener)
    if (!this.isClosed) await this.#listen()
    return () => {
      this.#watchers.delete(listener)
      if (!this.#isFollowed) this.#stopListening()
    }
  }

  /**
   * Checks that the server responds, with `ping` or (2026-07-28) `server/discover`. A session that the server has lost, or whose
   * protocol revision it no longer supports, is replaced.
   */
  async ping({ timeoutMs = this.#parts.timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<void> {
    const options = { timeout: timeoutMs, ...(signal !== undefined && { signal }) }
    await this.#use((session) => this.#revisionCheck.ping(session, options))
  }

  /** Ends the session, and a process that was started for it. `keepSession` leaves the session on the server for a later connection. */
  close({ keepSession = false }: { readonly keepSession?: boolean } = {}): Promise<void> {
    this.#closing ??= this.#close(keepSession)
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
    this.#watchers.clear()
    this.#stopListening()
    for (const follower of [...this.#followers]) follower.close()
    await this.#waitBriefly(Promise.all([this.#listenerStopped, this.#subscriptions.stop()]))
    if (!keepSession && this.session !== undefined) await this.#waitBriefly(this.#session.endSession())
    await this.#session.close()
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

  get #announcesChanges(): boolean {
    return this.capabilities.tools?.listChanged === true
  }

  /** True when the server would notify this client of a change. */
  get #receivesChanges(): boolean {
    if (!this.#announcesChanges || this.#session.isClosed) return false
    return this.era === 'session' ? this.#session.pushStream === 'open' : this.#listener?.receivesChanges === true
  }

  get #isFollowed(): boolean {
    return this.#followers.size + this.#watchers.size > 0
  }

  #invalidate(event: ConnectionEvent = 'resumed'): void {
    this.#tools.invalidate()
    for (const follower of this.#followers) follower.invalidate()
    this.#emit(event)
  }

  #emit(event: ConnectionEvent): void {
    for (const listener of [...this.#watchers]) listener(event)
  }

  #useSession(session: Session): void {
    this.#session = session
    let opened = 0
    session.client.setNotificationHandler('notifications/tools/list_changed', () => this.#invalidate('changed'))
    session.onPushOpen(() => {
      opened++
      if (opened > 1 || this.#isFollowed) this.#invalidate()
    })
    session.onPushBreak(() => this.#emit('broken'))
    session.onClose(() => this.#handleSessionClose(session))
    this.#tools.sessionOpened(session)
  }

  #handleSessionClose(session: Session): void {
    if (session !== this.#session || this.#closing !== undefined) return
    if (session.canRenew) {
      this.#invalidate('broken')
      return
    }
    this.#stopListening()
    void this.#subscriptions.stop()
    for (const follower of this.#followers) follower.fail(this.#closedError(session))
    this.#handleClose()
  }

  #closedError({ failure, label }: Session): ClientError {
    return failure ?? connectionClosed(label)
  }

  get #isUsable(): boolean {
    return this.#closing === undefined && !this.#session.isClosed
  }

  async #current(): Promise<Session> {
    if (this.#isUsable) return this.#session
    if (this.#closing !== undefined) throw this.#closedError(this.#session)
    if (!this.#session.canRenew) throw this.#closedError(this.#session)
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renew(): Promise<Session> {
    const old = this.#session
    const session = await this.#reconnect()
    await this.#replace(old, session)
    return session
  }

  /** Opens a session, but not before the end of a pause that the server requested. */
  async #reconnect(): Promise<Session> {
    const { clock, reconnect } = this.#parts
    if (this.#paused !== undefined && clock.now() < this.#paused.until) throw this.#paused.error
    try {
      return await reconnect()
    } catch (error) {
      if (isClientError(error) && error.retryAfterMs !== undefined)
        this.#paused = { error, until: clock.now() + error.retryAfterMs }
      throw error
    }
  }

  async #replace(old: Session, session: Session): Promise<void> {
    if (this.#closing !== undefined || old !== this.#session) {
      await session.close()
      if (this.#closing !== undefined) throw this.#closedError(old)
      return
    }
    this.#useSession(session)
    old.lose()
    void old.drained.then(() => old.close()).catch(() => undefined)
    const { era, protocolVersion } = session.agreement
    const { protocolVersion: before } = old.agreement
    if (protocolVersion !== before)
      this.#parts.onWarning(`${session.label} changed its protocol revision from ${before} to ${protocolVersion}.`)
    this.#subscriptions.renew(session)
    for (const follower of this.#followers) follower.invalidate()
    this.#emit('resumed')
    if (era === 'session') this.#stopListening()
    else if (this.#isFollowed) void this.#listen()
  }

  /** Runs `work` in the current session. A request refused because the session is outdated runs again in a new one. */
  #use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#isUsable && !this.#session.canRenew ? work(this.#session) : this.#useRenewed(work)
  }

  async #useRenewed<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.#current()
    try {
      return await work(session)
    } catch (error) {
      const isLost = session.isSessionLost && isNotFound(error)
      const isOutdated = !isLost && (await this.#revisionCheck.replaces(session, error)) && isRefused(error)
      if (!isLost && !isOutdated) throw error
      return work(await this.#current())
    }
  }

  /** Returns the tool to call after validating the arguments. */
  async #resolveTool(name: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<Tool | undefined> {
    const tool = this.#tools.named(name) ?? find(await this.tools(), name)
    if (tool === undefined) return options.unlisted === true ? undefined : unknown(name, this.#tools.latest ?? [])
    if (options.validate === false || argumentProblems(tool, args).length === 0) return tool
    // The schema may have changed since it was read; only a current one may reject arguments.
    const sure = this.#tools.isFresh ? tool : (find(await this.tools(), name) ?? tool)
    const problems = argumentProblems(sure, args)
    if (problems.length === 0) return sure
    const lines = problems.map(({ path, message }) => `  ${path === '' ? 'The arguments' : path} ${message}`).join('\n')
    throw new ClientError('invalid_arguments', `Invalid arguments for ${printable(name)}:\n${lines}`, {
      tool: name,
      problems,
    })
  }

  async #attach(follower: ChangeFollower): Promise<void> {
    this.#followers.add(follower)
    if (this.isClosed) throw this.#closedError(this.#session)
    await this.#listen()
  }

  /** Opens `subscriptions/listen` (2026-07-28); session-era servers send notifications without it. */
  async #listen(): Promise<void> {
    if (this.era !== 'stateless' || this.#listener !== undefined) return
    const { clock, timeoutMs, onWarning, watchesDocuments } = this.#parts
    const filter = ({ agreement }: Session): SubscriptionFilter => filterOf(agreement.capabilities, watchesDocuments)
    if (Object.keys(filter(this.#session)).length === 0) return
    const onOpen = (): void => this.#invalidate()
    const onClosed = (): void => this.#emit('broken')
    this.#listener = new SubscriptionListener({
      session: () => this.#current(),
      isReplaced: (session, error) => this.#revisionCheck.replaces(session, error),
      filter,
      clock,
      timeoutMs,
      onWarning,
      onOpen,
      onClosed,
    })
    await this.#listener.start()
  }

  #stopListening(): void {
    if (this.#listener === undefined) return
    this.#listenerStopped = this.#listener.stop()
    this.#listener = undefined
  }

  #detach(follower: ChangeFollower): void {
    this.#followers.delete(follower)
    if (!this.#isFollowed) this.#stopListening()
  }
}

function filterOf({ tools, prompts, resources }: ServerCapabilities, watchesDocuments: boolean): SubscriptionFilter {
  return {
    ...(tools?.listChanged === true && { toolsListChanged: true }),
    ...(watchesDocuments && prompts?.listChanged === true && { promptsListChanged: true }),
    ...(watchesDocuments && resources?.listChanged === true && { resourcesListChanged: true }),
  }
}

const find = (tools: readonly Tool[] | undefined, name: string): Tool | undefined => tools?.find((tool) => tool.name === name)

function unknown(name: string, tools: readonly Tool[]): never {
  const near = nearest(
    name,
    tools.map((tool) => tool.name),
  ).map((each) => printable(each))
  const hint = tools.some((tool) => tool.name === 'call_tool')
    ? ' This server does not list all of its tools; { unlisted: true } calls one by name.'
    : ''
  throw new ClientError('unknown_tool', `Unknown tool "${printable(name)}".${nearestHint(near)}${hint}`, {
    name,
    nearest: near,
  })
}

const argumentProblems = (tool: Tool, args: unknown) => validateArguments(tool, args).problems

/** The server rejected the call before running it because of its headers. */
const isHeaderMismatch = (error: ClientError): boolean => isClientError(error, 'protocol') && error.details.code === -32_020

const isNotFound = (error: unknown): boolean => isClientError(error) && 'status' in error.details && error.details.status === 404
