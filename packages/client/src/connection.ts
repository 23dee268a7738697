import type {
  Client,
  LoggingMessageNotificationParams,
  ServerCapabilities,
  SubscriptionFilter,
} from '@modelcontextprotocol/client'
import { discovery, nearest, nearestHint, printable, type Tool } from '@unfold-mcp/core'
import type { CachedTools, CacheKey, ToolCache } from './cache/cache.ts'
import { ClientError, isClientError } from './errors/errors.ts'
import { isUnknownMethod } from './errors/translation.ts'
import { validateArguments } from './schema/validate.ts'
import type { Asking } from './session/elicitation.ts'
import { type PassOptions, passed } from './session/forward.ts'
import type { Session } from './session/handshake.ts'
import { Listening } from './session/listener.ts'
import { Subscribed } from './session/resource-subscriptions.ts'
import type { Era, Link, ServerInfo } from './session/session.ts'
import type { Clock } from './time/clock.ts'
import { before } from './time/deadline.ts'
import { type CallOptions, type CallResult, callTool } from './tools/calls.ts'
import { type Changes, type Followed, Follower, type FollowOptions } from './tools/changes.ts'
import { type Description, describeTool, parseDescription } from './tools/description.ts'
import { type Identity, knowsIdentity } from './tools/identity.ts'
import { KnownTools } from './tools/known-tools.ts'
import { type Outline, outlineIn } from './tools/outline.ts'

/**
 * What a connection tells whoever watches it: the server says that its tools changed (`changed`); it is heard again, and what it
 * said meanwhile is lost (`resumed`); what it was heard over broke (`broken`).
 */
export type Sign = 'changed' | 'resumed' | 'broken'

/** What a server wrote to its log. */
export type LogEntry = LoggingMessageNotificationParams

export interface ConnectionParts {
  readonly link: Link
  /** Makes another link to the same server. */
  readonly redial: () => Promise<Link>
  readonly clock: Clock
  readonly timeoutMs: number
  readonly maxMessageBytes: number
  readonly onWarning: (warning: string) => void
  readonly asking: Asking | undefined
  readonly cache: ToolCache | undefined
  readonly key: CacheKey | undefined
  readonly cached: Promise<CachedTools | undefined>
  readonly expectIdentity: string | undefined
  /** Whether somebody wants to know of changes of prompts and resources. */
  readonly hearsDocuments: boolean
}

const farewellMs = 2_000
const listFactor = 8

/**
 * A server that is connected: its tools, known by as few requests as can be, and a way to call them. A session over HTTP that
 * the server forgets is begun anew; a process that ends stays ended, and says so.
 */
export class Connection implements AsyncDisposable {
  readonly #parts: ConnectionParts
  readonly #tools: KnownTools
  readonly #followers = new Set<Follower>()
  readonly #watchers = new Set<(sign: Sign) => void>()
  readonly #overListeners = new Set<() => void>()
  readonly #subscribed: Subscribed
  #link: Link
  #renewing: Promise<Link> | undefined
  #listening: Listening | undefined
  /** When the server has been told that nobody listens any more. */
  #unlistened: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.#link = parts.link
    const { clock, timeoutMs, maxMessageBytes, onWarning, cache, key, cached, expectIdentity } = parts
    this.#tools = new KnownTools({
      use: (work) => this.#use(work),
      hears: () => this.#hears,
      maxBytes: maxMessageBytes * listFactor,
      ...{ clock, timeoutMs, onWarning, cache, key, cached, expectIdentity },
    })
    this.#subscribed = new Subscribed({
      link: () => this.#current(),
      request: (method, params) => this.request(method, params, { timeoutMs }),
      clock,
      timeoutMs,
    })
    this.#adopt(parts.link)
  }

  get era(): Era {
    return this.#link.agreement.era
  }

  /** The revision of the protocol that was agreed on. */
  get protocolVersion(): string {
    return this.#link.agreement.protocolVersion
  }

  get server(): ServerInfo {
    return this.#link.agreement.server
  }

  get instructions(): string | undefined {
    return this.#link.agreement.instructions
  }

  get capabilities(): ServerCapabilities {
    return this.#link.agreement.capabilities
  }

  /** The SDK's client, for prompts, resources and all that this library adds nothing to. Another one after a new session. */
  get client(): Client {
    return this.#link.client
  }

  /** The session, where there is one that could be taken up again. */
  get session(): Session | undefined {
    const { sessionId: id, agreement } = this.#link
    return id === undefined || this.#link.isOver ? undefined : { id, agreement }
  }

  /** The number of the server's process, where it was started for this connection. */
  get pid(): number | undefined {
    return this.#link.pid
  }

  /** Whether it cannot be used any more. */
  get isOver(): boolean {
    return this.#closing !== undefined || (this.#link.isOver && !this.#link.canRenew)
  }

  /** The tools as they are now; the server is only asked when they may have changed. */
  tools(): Promise<readonly Tool[]> {
    return this.#tools.now()
  }

  /** One tool by its name. */
  async tool(name: string): Promise<Tool> {
    const known = this.#tools.named(name)
    if (known !== undefined && this.#tools.isFresh) return known
    const tools = await this.tools()
    return find(tools, name) ?? unknown(name, tools)
  }

  /** What the server says of the list it would give now; `undefined` for one that knows nothing of identity. */
  async identity(): Promise<Identity | undefined> {
    const identity = await this.#tools.ask()
    if (identity !== undefined && this.#tools.identity !== undefined && identity.server_id !== this.#tools.identity)
      this.#notice()
    return identity
  }

  /** All tools that the server has for this client, listed or not, with their groups; `undefined` for one that does not tell. */
  async outline(): Promise<Outline | undefined> {
    const identity = await this.#tools.ask({ outline: true })
    return identity === undefined ? undefined : outlineIn(identity)
  }

  /** All there is to know of a tool: from the server, or from its definition when the server does not tell. */
  async describe(name: string): Promise<Description> {
    if (!knowsIdentity(this.capabilities)) return describeTool(await this.tool(name))
    try {
      return await this.#use(async (link) => {
        const what = `Asking ${link.label} about ${printable(name)}`
        return parseDescription(
          name,
          await link.request(discovery.methods.describe, { name }, { what, timeout: this.#parts.timeoutMs }),
        )
      })
    } catch (error) {
      if (!isUnknownMethod(error)) throw error
      return describeTool(await this.tool(name))
    }
  }

  /** Calls a tool. Arguments that its schema refuses are not sent; all that is wrong with them is said at once. */
  async call(name: string, args: Readonly<Record<string, unknown>> = {}, options: CallOptions = {}): Promise<CallResult> {
    const isAsItIs = options.validate === false && options.unlisted === true
    const tool = isAsItIs ? this.#tools.named(name) : await this.#callable(name, args, options)
    const { clock, asking } = this.#parts
    // Some calls change the list, and say so later or not at all.
    this.#tools.touched()
    const send = (definition: Tool | undefined): Promise<CallResult> =>
      this.#use((link) => callTool(link, { name, args, tool: definition, clock, asking, options }))
    try {
      return await send(tool)
    } catch (error) {
      if (!isClientError(error, 'protocol') && !isClientError(error, 'unknown_tool')) throw error
      // What the server does not understand may have been right for the tools it had before.
      this.#tools.notice()
      if (!isHeaderMismatch(error)) throw error
      return send(find(await this.tools(), name))
    }
  }

  /** Sends a request that is no call, and returns its result as it came. What goes wrong is one of our errors. */
  request(method: string, params: Readonly<Record<string, unknown>>, options: PassOptions = {}): Promise<unknown> {
    return this.#use((link) => passed(link, { method, params, clock: this.#parts.clock, options }))
  }

  /** From now on updates of this resource are told (`onDocuments`), also in a later session. */
  subscribe(uri: string): Promise<void> {
    return this.#subscribed.add(uri)
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#subscribed.remove(uri)
  }

  /** Changes of the list from the one that was last read on, or from now on when none was. */
  changes(options?: FollowOptions): Changes {
    const followed: Followed = {
      clock: this.#parts.clock,
      label: this.#link.label,
      hears: () => this.#hears,
      latest: () => this.#tools.latest,
      identity: () => this.#tools.identity,
      now: () => this.#tools.now(),
      notice: () => this.#tools.notice(),
      attach: (follower) => this.#attach(follower),
      detach: (follower) => this.#detach(follower),
    }
    return new Follower(followed, options)
  }

  /** Reads the whole list from the server, once, whatever is known or said of it; what changes meanwhile is told to whoever watches. */
  refresh(signal?: AbortSignal): Promise<readonly Tool[]> {
    return this.#tools.refresh(signal)
  }

  /** Calls `saw` at each sign of a change the moment it comes, until what is returned is called. Resolves when the server is heard. */
  async watch(saw: (sign: Sign) => void): Promise<() => void> {
    this.#watchers.add(saw)
    if (!this.isOver) await this.#listen()
    return () => {
      this.#watchers.delete(saw)
      if (!this.#isFollowed) this.#unlisten()
    }
  }

  /** Whether the server answers: to a ping, and where there is none to being asked what it is. A lost session is begun anew. */
  async ping({ timeoutMs = this.#parts.timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<void> {
    const options = { timeout: timeoutMs, ...(signal !== undefined && { signal }) }
    await this.#use(async (link) => {
      try {
        await (link.agreement.era === 'session' ? link.client.ping(options) : link.client.discover(options))
      } catch (error) {
        const failure = link.translated(error, `Asking ${link.label} for a sign of life`)
        // One that refuses to say has answered, unless it refused because it does not know the session.
        if (failure.reason !== 'protocol' || link.isForgotten) throw failure
      }
    })
  }

  /** Ends it: the session is over, and so is a process that was started for it. `keepSession` leaves the session to be taken up again. */
  close({ keepSession = false }: { readonly keepSession?: boolean } = {}): Promise<void> {
    this.#closing ??= this.#close(keepSession)
    return this.#closing
  }

  /** Calls `over` once, when it cannot be used any more. */
  onOver(over: () => void): void {
    if (this.isOver) over()
    else this.#overListeners.add(over)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(keepSession: boolean): Promise<void> {
    this.#watchers.clear()
    this.#unlisten()
    for (const follower of [...this.#followers]) follower.close()
    await this.#farewell(Promise.all([this.#unlistened, this.#subscribed.stop()]))
    if (!keepSession && this.session !== undefined) await this.#farewell(this.#link.endSession())
    await this.#link.close()
    this.#ended()
  }

  /** Waits for the server to take note, but not for long. */
  async #farewell(told: Promise<unknown>): Promise<void> {
    const { clock } = this.#parts
    await before(told, { what: 'Ending', hint: '', timeoutMs: farewellMs, clock }).catch(() => undefined)
  }

  #ended(): void {
    for (const over of this.#overListeners) over()
    this.#overListeners.clear()
  }

  get #announcesChanges(): boolean {
    return this.capabilities.tools?.listChanged === true
  }

  /** Whether a change of the list would be noticed by itself. */
  get #hears(): boolean {
    if (!this.#announcesChanges || this.#link.isOver) return false
    return this.era === 'session' ? this.#link.pushes === 'open' : this.#listening?.hears === true
  }

  get #isFollowed(): boolean {
    return this.#followers.size + this.#watchers.size > 0
  }

  #notice(sign: Sign = 'resumed'): void {
    this.#tools.notice()
    for (const follower of this.#followers) follower.notice()
    this.#show(sign)
  }

  #show(sign: Sign): void {
    for (const saw of [...this.#watchers]) saw(sign)
  }

  #adopt(link: Link): void {
    this.#link = link
    let opened = 0
    link.client.setNotificationHandler('notifications/tools/list_changed', () => this.#notice('changed'))
    link.onPush(() => {
      opened++
      // Whoever reads the list only now and then looks again anyway, once it is heard.
      if (opened > 1 || this.#isFollowed) this.#notice()
    })
    link.onBreak(() => this.#show('broken'))
    link.onOver(() => this.#lost(link))
    this.#tools.met(link)
  }

  #lost(link: Link): void {
    if (link !== this.#link || this.#closing !== undefined) return
    if (link.canRenew) {
      this.#notice('broken')
      return
    }
    this.#unlisten()
    void this.#subscribed.stop()
    for (const follower of this.#followers) follower.fail(this.#gone(link))
    this.#ended()
  }

  #gone({ failure, label }: Link): ClientError {
    return failure ?? new ClientError('unreachable', `The connection to ${label} is closed. Connect again.`, { target: label })
  }

  get #isUsable(): boolean {
    return this.#closing === undefined && !this.#link.isOver
  }

  async #current(): Promise<Link> {
    if (this.#isUsable) return this.#link
    if (this.#closing !== undefined) throw this.#gone(this.#link)
    if (!this.#link.canRenew) throw this.#gone(this.#link)
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renew(): Promise<Link> {
    const old = this.#link
    const link = await this.#parts.redial()
    void old.lastAnswers.then(() => old.close()).catch(() => undefined)
    if (this.#closing !== undefined) {
      await link.close()
      throw this.#gone(old)
    }
    this.#adopt(link)
    if (link.agreement.era === 'session') this.#subscribed.renew()
    for (const follower of this.#followers) follower.notice()
    this.#show('resumed')
    if (this.#isFollowed) void this.#listen()
    return link
  }

  /** Does something over the link there is. What a server refused because it forgot the session is done in a new one. */
  #use<T>(work: (link: Link) => Promise<T>): Promise<T> {
    return this.#isUsable && !this.#link.canRenew ? work(this.#link) : this.#useRenewed(work)
  }

  async #useRenewed<T>(work: (link: Link) => Promise<T>): Promise<T> {
    const link = await this.#current()
    try {
      return await work(link)
    } catch (error) {
      if (!link.isForgotten || !wasNotFound(error)) throw error
      return work(await this.#current())
    }
  }

  /** The tool that is to be called, once these arguments fit it. */
  async #callable(name: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<Tool | undefined> {
    const tool = this.#tools.named(name) ?? find(await this.tools(), name)
    if (tool === undefined) return options.unlisted === true ? undefined : unknown(name, this.#tools.latest ?? [])
    if (options.validate === false || problemsWith(tool, args).length === 0) return tool
    // The schema may have changed since it was read; only one that is sure is worth refusing for.
    const sure = this.#tools.isFresh ? tool : (find(await this.tools(), name) ?? tool)
    const problems = problemsWith(sure, args)
    if (problems.length === 0) return sure
    const said = problems.map(({ path, message }) => `  ${path === '' ? 'The arguments' : path} ${message}`).join('\n')
    throw new ClientError('invalid_arguments', `These arguments do not fit ${printable(name)}:\n${said}`, {
      tool: name,
      problems,
    })
  }

  async #attach(follower: Follower): Promise<void> {
    this.#followers.add(follower)
    if (this.isOver) throw this.#gone(this.#link)
    await this.#listen()
  }

  /** Hears of changes as 2026-07-28 has it; a session-era server is heard as it is. */
  async #listen(): Promise<void> {
    if (this.era !== 'stateless' || this.#listening !== undefined) return
    const { clock, timeoutMs, onWarning, hearsDocuments } = this.#parts
    const filter = ({ agreement }: Link): SubscriptionFilter => filterOf(agreement.capabilities, hearsDocuments)
    if (Object.keys(filter(this.#link)).length === 0) return
    const onOpen = (): void => this.#notice()
    const onClosed = (): void => this.#show('broken')
    this.#listening = new Listening({ link: () => this.#current(), filter, clock, timeoutMs, onWarning, onOpen, onClosed })
    await this.#listening.start()
  }

  #unlisten(): void {
    if (this.#listening === undefined) return
    this.#unlistened = this.#listening.stop()
    this.#listening = undefined
  }

  #detach(follower: Follower): void {
    this.#followers.delete(follower)
    if (!this.#isFollowed) this.#unlisten()
  }
}

/** What of all that a server may tell this one does. */
function filterOf({ tools, prompts, resources }: ServerCapabilities, hearsDocuments: boolean): SubscriptionFilter {
  return {
    ...(tools?.listChanged === true && { toolsListChanged: true }),
    ...(hearsDocuments && prompts?.listChanged === true && { promptsListChanged: true }),
    ...(hearsDocuments && resources?.listChanged === true && { resourcesListChanged: true }),
  }
}

const find = (tools: readonly Tool[] | undefined, name: string): Tool | undefined => tools?.find((tool) => tool.name === name)

function unknown(name: string, tools: readonly Tool[]): never {
  const near = nearest(
    name,
    tools.map((tool) => tool.name),
  ).map((each) => printable(each))
  const hint = tools.some((tool) => tool.name === 'call_tool')
    ? ' It is not listed here, where not all tools are; { unlisted: true } calls one all the same.'
    : ''
  throw new ClientError('unknown_tool', `There is no tool "${printable(name)}".${nearestHint(near)}${hint}`, {
    name,
    nearest: near,
  })
}

const problemsWith = (tool: Tool, args: unknown) => validateArguments(tool, args).problems

/** Whether the server refused a call because it wants other headers: then it has not been made. */
const isHeaderMismatch = (error: ClientError): boolean => isClientError(error, 'protocol') && error.details.code === -32_020

const wasNotFound = (error: unknown): boolean => isClientError(error) && 'status' in error.details && error.details.status === 404
