import {
  type AuthInfo,
  createMcpHandler,
  type InboundModernRoute,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type McpHttpHandler,
  type McpServer,
  ProtocolErrorCode,
  type RequestId,
  type Server,
  type ServerEvent,
  type ServerEventBus,
  type ServerNotifier,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'
import { decodeHeader, Failure, headerMismatch, headerParameters, printable, resolve, type Shares } from '@unfold-mcp/core'
import { operationFor } from '../operations/index.ts'
import type { Operation } from '../operations/operation.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import type { UrlView } from '../scope/url-view.ts'
import type { ClientPort } from '../tool/client-port.ts'
import type { Principal } from '../tool/principal.ts'
import { errorReply, failureReply, requestIdOf } from '../wire/errors.ts'
import type { Exchange, Reply } from '../wire/exchange.ts'
import { authInfoOf } from './auth-info.ts'
import { ReplyStream } from './reply-stream.ts'
import { RunningRequests } from './running-requests.ts'
import { sdkHost, statelessRevision } from './sdk-host.ts'
import { StatelessPort } from './stateless-port.ts'

export interface StatelessRequest {
  readonly exchange: Exchange
  readonly route: InboundModernRoute
  readonly body: unknown
  readonly principal: Principal | undefined
  /** Key of the client's share of all limits. */
  readonly share: string | undefined
  readonly view: UrlView
}

const headerMismatchCode = -32020

interface OwnRequest {
  readonly scope: Scope
  readonly exchange: Exchange
  readonly message: JSONRPCRequest
}

/** Notifies subscribed clients of changes to prompts and resources: all, or those that `to` selects. */
export interface ChangeNotifier {
  promptsChanged(to?: PrincipalFilter): void
  resourcesChanged(to?: PrincipalFilter): void
  resourceUpdated(uri: string, to?: PrincipalFilter): void
}

/** Chooses the principals that receive a notification. */
export type PrincipalFilter = (principal: Principal | undefined) => boolean

/** An open `subscriptions/listen` stream. */
export interface SubscriptionStream {
  readonly principal: Principal | undefined
  /** Key of the client's share of all limits. */
  readonly share: string | undefined
  /** Resources that the client subscribed to. */
  readonly resources: readonly string[]
}

export interface StatelessOptions {
  /** Places for streams of all runtimes. */
  readonly slots: Shares
  readonly onerror: (error: Error) => void
  readonly onListen: (stream: SubscriptionStream) => (() => void) | undefined
}

/** The 2026-07-28 clients of one runtime: independent requests, and subscription streams. */
export class Stateless {
  readonly #runtime: Runtime
  readonly #slots: Shares
  readonly #onerror: (error: Error) => void
  readonly #onListen: StatelessOptions['onListen']
  readonly #handler: McpHttpHandler
  readonly #sdkRequests = new WeakMap<Request, { readonly scope: Scope; readonly method: string | undefined }>()
  readonly #running: RunningRequests
  readonly #streams = new Map<McpHttpHandler, Principal | undefined>()
  readonly #reminders = new Reminders()
  #streamNumber = 0

  constructor(runtime: Runtime, { slots, onerror, onListen }: StatelessOptions) {
    this.#runtime = runtime
    this.#slots = slots
    this.#onerror = onerror
    this.#onListen = onListen
    this.#running = new RunningRequests(runtime)
    this.#handler = createMcpHandler(({ requestInfo }) => this.#serverFor(requestInfo), { legacy: 'reject', onerror })
  }

  get size(): number {
    return this.#streams.size
  }

  async handle(handled: StatelessRequest): Promise<Reply> {
    const { exchange, route, body, principal, share, view } = handled
    const { message } = route
    const method = 'method' in message ? message.method : undefined
    if (method === 'subscriptions/listen') return this.#listen(handled)
    const scope = await this.#runtime.scopes.openEphemeral(view, { principal, share, request: () => exchange.request() })
    const operation =
      method === undefined || route.messageKind !== 'request' ? undefined : operationFor(this.#runtime, scope, method)
    if (method === 'tools/call') {
      const refused = this.#refusedHeaders(scope, exchange, message)
      if (refused !== undefined) return closeUnserved(scope, refused)
    }
    if (operation !== undefined)
      return refusedRoute(exchange, route) ?? this.#run(operation, { scope, exchange, message: message as JSONRPCRequest })
    const request = exchange.request()
    this.#sdkRequests.set(request, { scope, method })
    const response = await this.#handler.fetch(request, fetchOptions(body, principal))
    return this.#sdkRequests.delete(request) ? closeUnserved(scope, response) : response
  }

  #run(operation: Operation, { scope, exchange, message }: OwnRequest): Promise<Reply> {
    const { id, params = {} } = message
    const stream = new ReplyStream({
      ids: [id],
      headers: {},
      onDisconnect: (listener) => exchange.onDisconnect(listener),
      form: 'json',
    })
    const notify: ClientPort['notify'] = (method, args) =>
      stream.send({ jsonrpc: '2.0', method, ...(args !== undefined && { params: args }) } as JSONRPCMessage)
    // Not the id: requests of different clients may have the same one.
    const key = {}
    exchange.onDisconnect(() => this.#running.abortAll((_, running) => running === key))
    const client = new StatelessPort(params, notify)
    const request = { id, params, client, revision: statelessRevision, http: () => exchange.request() }
    void this.#respond(stream, id, this.#running.run(key, operation, scope, request))
    return stream.reply
  }

  async #respond(stream: ReplyStream, id: RequestId, running: ReturnType<RunningRequests['run']>): Promise<void> {
    const response = await running
    // The protocol requires this status when the client lacks a capability.
    const status = response?.errorCode === ProtocolErrorCode.MissingRequiredClientCapability ? 400 : 200
    await stream.respond(id, response?.json, status)
  }

  readonly notify: ChangeNotifier = {
    promptsChanged: (to) => this.#notifyStreams((stream) => stream.promptsChanged(), to),
    resourcesChanged: (to) => this.#notifyStreams((stream) => stream.resourcesChanged(), to),
    resourceUpdated: (uri, to) => this.#notifyStreams((stream) => stream.resourceUpdated(uri), to),
  }

  /** Ends the streams and calls of matching principals. */
  async disconnect(matches: PrincipalFilter): Promise<void> {
    this.#running.abortAll(({ settings }) => matches(settings.principal))
    const matching = [...this.#streams].filter(([, principal]) => matches(principal))
    await Promise.all(matching.map(([stream]) => stream.close()))
  }

  /**
   * Notifies clients once more, one to two intervals after their stream opened or they were notified: another replica, whose tools
   * change a moment later, may have answered their list.
   */
  remind(): void {
    for (const bus of this.#reminders.due()) bus.publish(listChanged)
  }

  /** Ends the subscription streams with their final response: their clients subscribe again, on another replica. */
  async endStreams(): Promise<void> {
    await Promise.all([...this.#streams.keys()].map((stream) => stream.close()))
  }

  async close(): Promise<void> {
    await Promise.all([this.#handler.close(), this.disconnect(() => true)])
  }

  #notifyStreams(send: (stream: ServerNotifier) => void, to: PrincipalFilter = () => true): void {
    for (const [{ notify }, principal] of this.#streams) if (to(principal)) send(notify)
  }

  /** Creates a handler per subscription, because its notifications depend on the principal and the view. */
  async #listen({ exchange, body, principal, share, view }: StatelessRequest): Promise<Reply> {
    const release = this.#slots.take(share === undefined ? [] : [share])
    if (release === undefined) return subscriptionLimit(this.#slots, body)
    const key = `stream:${++this.#streamNumber}`
    const scope = await this.#runtime.scopes
      .open({ key, era: 'stateless', principal, share, view, request: () => exchange.request() })
      .catch((error: unknown) => {
        release()
        throw error
      })
    let onEnd: (() => void) | undefined
    const bus = new StreamBus(() => {
      onEnd?.()
      release()
      this.#streams.delete(handler)
      this.#reminders.delete(bus)
      void this.#runtime.scopes.close(scope)
    })
    const handler: McpHttpHandler = createMcpHandler(() => sdkHost(this.#runtime, scope), {
      legacy: 'reject',
      bus,
      onerror: this.#onerror,
    })
    this.#streams.set(handler, principal)
    this.#runtime.announcer.attach(scope, async () => {
      bus.publish(listChanged)
      this.#reminders.add(bus)
    })
    this.#reminders.add(bus)
    const response = await handler.fetch(exchange.request(), fetchOptions(body, principal))
    if (bus.isOpen) onEnd = this.#onListen({ principal, share, resources: resourceSubscriptions(body) })
    else bus.end()
    return response
  }

  #serverFor(request: Request | undefined): Server | McpServer {
    const context = request === undefined ? undefined : this.#sdkRequests.get(request)
    if (request === undefined || context === undefined) throw new Error('A request reached the SDK without a scope.')
    this.#sdkRequests.delete(request)
    const { scope, method } = context
    return sdkHost(this.#runtime, scope, method === 'server/discover')
  }

  // The SDK checks this only in its own McpServer.
  #refusedHeaders(scope: Scope, exchange: Exchange, request: InboundModernRoute['message']): Reply | undefined {
    const { name, arguments: args } = (request as { params?: { name?: unknown; arguments?: unknown } }).params ?? {}
    if (typeof name !== 'string') return undefined
    const resolved = resolve(this.#runtime.catalogs.of(scope).catalog, this.#runtime.views.inputs(scope), name)
    // An error about its headers would reveal a tool that the client does not see.
    if (resolved.kind !== 'shown') return undefined
    const { tool } = resolved.entry
    const mismatch = headerMismatch(headerParameters(tool.name, tool.inputSchema), args, (header) => exchange.header(header))
    if (mismatch === undefined) return undefined
    const { problem } = mismatch
    const message = `Headers and body do not match: ${problem}. Send the argument in the header, Base64-encoded if it is not plain ASCII.`
    const data = { reason: 'header_mismatch', problem, mismatch }
    return errorReply(400, { code: headerMismatchCode, message, data }, { id: requestIdOf(request) })
  }
}

const listChanged: ServerEvent = { kind: 'tools_list_changed' }

/** Streams whose clients may have listed at a replica that lagged behind. */
class Reminders {
  #added = new Set<StreamBus>()
  #next = new Set<StreamBus>()

  add(stream: StreamBus): void {
    this.#added.add(stream)
    this.#next.delete(stream)
  }

  delete(stream: StreamBus): void {
    this.#added.delete(stream)
    this.#next.delete(stream)
  }

  /** Returns the streams that were added before the last call, each once. */
  due(): Iterable<StreamBus> {
    const due = this.#next
    this.#next = this.#added
    this.#added = new Set()
    return due
  }
}

/** Event bus of one subscription, which tracks when the subscription starts and ends. */
class StreamBus implements ServerEventBus {
  readonly #onEnd: () => void
  #listener: ((event: ServerEvent) => void) | undefined
  #hasEnded = false

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  get isOpen(): boolean {
    return this.#listener !== undefined
  }

  publish(event: ServerEvent): void {
    this.#listener?.(event)
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    this.#listener = listener
    return () => this.end()
  }

  end(): void {
    this.#listener = undefined
    if (!this.#hasEnded) this.#onEnd()
    this.#hasEnded = true
  }
}

function subscriptionLimit({ isFull, limit }: Shares, body: unknown): Reply {
  const message = isFull
    ? `Subscription limit reached (${limit}). Try again later.`
    : `Too many subscriptions of one client (limit for all clients: ${limit}). End one of the open subscriptions/listen streams first.`
  return failureReply(200, new Failure('subscription_limit', message, { limit }), { code: -32603, id: requestIdOf(body) })
}

const maxResources = 1_024

function resourceSubscriptions(body: unknown): readonly string[] {
  const { params } = body as { readonly params?: { readonly notifications?: { readonly resourceSubscriptions?: unknown } } }
  const uris = params?.notifications?.resourceSubscriptions
  return Array.isArray(uris) ? uris.slice(0, maxResources).filter((uri) => typeof uri === 'string') : []
}

/** Closes the adopted server of a request that never reached it. */
async function closeUnserved(scope: Scope, refusal: Reply): Promise<Reply> {
  await scope.scopedServer?.close()
  return refusal
}

function fetchOptions(body: unknown, principal: Principal | undefined): { parsedBody?: unknown; authInfo?: AuthInfo } {
  return { parsedBody: body, ...(principal !== undefined && { authInfo: authInfoOf(principal) }) }
}

/** Refuses unsupported revisions, and requests without the headers that 2026-07-28 requires. */
function refusedRoute(exchange: Exchange, { classification, message }: InboundModernRoute): Reply | undefined {
  const { revision } = classification
  const id = requestIdOf(message)
  if (revision !== statelessRevision) {
    const error = new UnsupportedProtocolVersionError({ supported: [statelessRevision], requested: revision ?? 'unknown' })
    return errorReply(400, { code: error.code, message: error.message, data: error.data }, { id })
  }
  const { method, params } = message as JSONRPCRequest
  const problem = ['mcp-protocol-version', 'mcp-method']
    .filter((name) => exchange.header(name) === undefined)
    .map((name) => `the header ${name} is missing`)
    .concat(method === 'tools/call' ? nameProblem(exchange.header('mcp-name'), params?.name) : [])[0]
  if (problem === undefined) return undefined
  const data = { reason: 'header_mismatch', problem }
  return errorReply(400, { code: headerMismatchCode, message: `Headers and body do not match: ${problem}.`, data }, { id })
}

function nameProblem(header: string | undefined, name: unknown): readonly string[] {
  if (typeof name !== 'string') return []
  if (header === undefined) return ['the header mcp-name is missing']
  const decoded = decodeHeader(header.trim())
  return decoded === name ? [] : [`the header mcp-name does not match the name in the body, ${JSON.stringify(printable(name))}`]
}
