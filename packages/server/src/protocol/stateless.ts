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
import { decodeHeader, Failure, headerMismatch, headerParameters, printable, resolve } from '@unfold-mcp/core'
import { operationFor } from '../operations/index.ts'
import type { Operation } from '../operations/operation.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import type { UrlView } from '../scope/url-view.ts'
import type { ClientPort } from '../tool/client-port.ts'
import type { Principal } from '../tool/principal.ts'
import { errorReply, failureReply, idOf } from '../wire/errors.ts'
import type { Exchange, Reply } from '../wire/exchange.ts'
import { ReplyStream } from './reply-stream.ts'
import { RunningRequests } from './running-requests.ts'
import { sdkHost, statelessRevision } from './sdk-host.ts'
import { authInfoOf } from './sessions.ts'
import { StatelessPort } from './stateless-port.ts'

export interface StatelessRequest {
  readonly exchange: Exchange
  readonly route: InboundModernRoute
  readonly body: unknown
  readonly principal: Principal | undefined
  readonly view: UrlView
}

const headerMismatchCode = -32020

/** A request for one of our own methods. */
interface OwnMessage {
  readonly scope: Scope
  readonly exchange: Exchange
  readonly message: JSONRPCRequest
}

/** Tells of changes of what the SDK serves beside tools: everybody who asked to know, or those of them that `to` names. */
export interface DocumentNotices {
  promptsChanged(to?: Addressed): void
  resourcesChanged(to?: Addressed): void
  resourceUpdated(uri: string, to?: Addressed): void
}

type Addressed = (principal: Principal | undefined) => boolean

/** A stream on which a client hears of changes. */
export interface ListeningStream {
  readonly principal: Principal | undefined
  /** The resources whose updates it asked to hear of. */
  readonly resources: readonly string[]
}

export interface StatelessOptions {
  readonly maxSubscriptions: number
  /** How many streams are open in all, where several runtimes share the limit. */
  readonly streams: () => number
  readonly onerror: (error: Error) => void
  readonly onListen: (stream: ListeningStream) => (() => void) | undefined
}

/** The 2026-07-28 clients of one runtime: every request stands alone, and a change is heard on streams that asked for it. */
export class Stateless {
  readonly #runtime: Runtime
  readonly #maxSubscriptions: number
  readonly #openStreams: () => number
  readonly #onerror: (error: Error) => void
  readonly #onListen: StatelessOptions['onListen']
  readonly #handler: McpHttpHandler
  readonly #asked = new WeakMap<Request, { readonly scope: Scope; readonly method: string | undefined }>()
  readonly #running: RunningRequests
  readonly #streams = new Map<McpHttpHandler, Principal | undefined>()
  #streamNumber = 0
  /** Streams on their way into `#streams`. */
  #opening = 0

  constructor(runtime: Runtime, { maxSubscriptions, streams, onerror, onListen }: StatelessOptions) {
    this.#runtime = runtime
    this.#maxSubscriptions = maxSubscriptions
    this.#openStreams = streams
    this.#onerror = onerror
    this.#onListen = onListen
    this.#running = new RunningRequests(runtime)
    this.#handler = createMcpHandler(({ requestInfo }) => this.#serverFor(requestInfo), { legacy: 'reject', onerror })
  }

  /** How many streams are open. */
  get size(): number {
    return this.#streams.size
  }

  /** Streams, and those that are about to begin. */
  get occupied(): number {
    return this.#streams.size + this.#opening
  }

  async answer({ exchange, route, body, principal, view }: StatelessRequest): Promise<Reply> {
    const { message } = route
    const method = 'method' in message ? message.method : undefined
    if (method === 'subscriptions/listen') return this.#listen(exchange, body, principal, view)
    const scope = await this.#runtime.scopes.openEphemeral(view, { principal, request: () => exchange.request() })
    const operation =
      method === undefined || route.messageKind !== 'request' ? undefined : operationFor(this.#runtime, scope, method)
    if (method === 'tools/call') {
      const refused = this.#refusedHeaders(scope, exchange, message)
      if (refused !== undefined) return unserved(scope, refused)
    }
    if (operation !== undefined)
      return refusedRoute(exchange, route) ?? this.#run(operation, { scope, exchange, message: message as JSONRPCRequest })
    const request = exchange.request()
    this.#asked.set(request, { scope, method })
    const response = await this.#handler.fetch(request, optionsOf(body, principal))
    return this.#asked.delete(request) ? unserved(scope, response) : response
  }

  /** Answers a request for one of our own methods. */
  #run(operation: Operation, { scope, exchange, message }: OwnMessage): Promise<Reply> {
    const { id, params = {} } = message
    const stream = new ReplyStream({ ids: [id], headers: {}, gone: (left) => exchange.gone(left), form: 'json' })
    const notify: ClientPort['notify'] = (method, about) =>
      stream.send({ jsonrpc: '2.0', method, ...(about !== undefined && { params: about }) } as JSONRPCMessage)
    // Clients know nothing of each other, so their ids may be the same.
    const key = {}
    exchange.gone(() => this.#running.abortAll((_, running) => running === key))
    const client = new StatelessPort(params, notify)
    const request = { id, params, client, revision: statelessRevision, http: () => exchange.request() }
    void this.#respond(stream, id, this.#running.run(key, operation, scope, request))
    return stream.reply
  }

  async #respond(stream: ReplyStream, id: RequestId, running: ReturnType<RunningRequests['run']>): Promise<void> {
    const response = await running
    // The protocol asks for this status whenever a client lacks a capability.
    const status = response?.errorCode === ProtocolErrorCode.MissingRequiredClientCapability ? 400 : 200
    await stream.respond(id, response?.json, status)
  }

  /** Tells the streams that asked to know. */
  readonly notify: DocumentNotices = {
    promptsChanged: (to) => this.#tell((stream) => stream.promptsChanged(), to),
    resourcesChanged: (to) => this.#tell((stream) => stream.resourcesChanged(), to),
    resourceUpdated: (uri, to) => this.#tell((stream) => stream.resourceUpdated(uri), to),
  }

  /** Ends the streams and calls of these principals. */
  async dismiss(whose: Addressed): Promise<void> {
    this.#running.abortAll(({ settings }) => whose(settings.principal))
    const theirs = [...this.#streams].filter(([, principal]) => whose(principal))
    await Promise.all(theirs.map(([stream]) => stream.close()))
  }

  async close(): Promise<void> {
    await Promise.all([this.#handler.close(), this.dismiss(() => true)])
  }

  #tell(notice: (stream: ServerNotifier) => void, to: Addressed = () => true): void {
    for (const [{ notify }, principal] of this.#streams) if (to(principal)) notice(notify)
  }

  /** A stream of its own for each subscription: what it is told depends on who asked, and for which view. */
  async #listen(exchange: Exchange, body: unknown, principal: Principal | undefined, view: UrlView): Promise<Reply> {
    const limit = this.#maxSubscriptions
    if (this.#openStreams() >= limit) {
      const message = `This server serves at most ${limit} subscriptions at a time. Try again later.`
      return failureReply(200, new Failure('subscription_limit', message, { limit }), { code: -32603, id: idOf(body) })
    }
    this.#opening++
    const scope = await this.#runtime.scopes
      .open({ key: `stream:${++this.#streamNumber}`, era: 'stateless', principal, view, request: () => exchange.request() })
      .finally(() => this.#opening--)
    let ended: (() => void) | undefined
    const bus = new StreamBus(() => {
      ended?.()
      this.#streams.delete(handler)
      void this.#runtime.scopes.close(scope)
    })
    const handler: McpHttpHandler = createMcpHandler(() => sdkHost(this.#runtime, scope), {
      legacy: 'reject',
      bus,
      onerror: this.#onerror,
    })
    this.#streams.set(handler, principal)
    this.#runtime.announcer.attach(scope, async () => bus.publish({ kind: 'tools_list_changed' }))
    const response = await handler.fetch(exchange.request(), optionsOf(body, principal))
    if (bus.isOpen) ended = this.#onListen({ principal, resources: resourcesIn(body) })
    else bus.end()
    return response
  }

  #serverFor(request: Request | undefined): Server | McpServer {
    const asked = request === undefined ? undefined : this.#asked.get(request)
    if (request === undefined || asked === undefined) throw new Error('A request reached the protocol server without a scope.')
    this.#asked.delete(request)
    const { scope, method } = asked
    return sdkHost(this.#runtime, scope, method === 'server/discover')
  }

  // The SDK makes this check for its own high-level server only.
  #refusedHeaders(scope: Scope, exchange: Exchange, request: InboundModernRoute['message']): Reply | undefined {
    const { name, arguments: args } = (request as { params?: { name?: unknown; arguments?: unknown } }).params ?? {}
    if (typeof name !== 'string') return undefined
    const meaning = resolve(this.#runtime.catalogs.of(scope).catalog, this.#runtime.views.inputs(scope), name)
    // To a client that does not see the tool, a word about its headers would say that it exists.
    if (meaning.kind !== 'shown') return undefined
    const { tool } = meaning.entry
    const mismatch = headerMismatch(headerParameters(tool.name, tool.inputSchema), args, (header) => exchange.header(header))
    if (mismatch === undefined) return undefined
    const { problem } = mismatch
    const message = `Headers and body disagree: ${problem}. Repeat the argument in the header, in Base64 where it is no plain text.`
    const data = { reason: 'header_mismatch', problem, mismatch }
    return errorReply(400, { code: headerMismatchCode, message, data }, { id: idOf(request) })
  }
}

/** The bus of one subscription: it knows when the subscription begins and ends. */
class StreamBus implements ServerEventBus {
  readonly #ended: () => void
  #listener: ((event: ServerEvent) => void) | undefined
  #over = false

  constructor(ended: () => void) {
    this.#ended = ended
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
    if (!this.#over) this.#ended()
    this.#over = true
  }
}

const mostResources = 1_024

/** The resources that a request to listen names, as far as they are names. */
function resourcesIn(body: unknown): readonly string[] {
  const { params } = body as { readonly params?: { readonly notifications?: { readonly resourceSubscriptions?: unknown } } }
  const named = params?.notifications?.resourceSubscriptions
  return Array.isArray(named) ? named.slice(0, mostResources).filter((each) => typeof each === 'string') : []
}

/** A refusal for a request that its server never saw. */
async function unserved(scope: Scope, refusal: Reply): Promise<Reply> {
  await scope.scopedServer?.close()
  return refusal
}

function optionsOf(body: unknown, principal: Principal | undefined): { parsedBody?: unknown; authInfo?: AuthInfo } {
  return { parsedBody: body, ...(principal !== undefined && { authInfo: authInfoOf(principal) }) }
}

/** Refuses a revision that is not served, and a request without the headers that 2026-07-28 requires. */
function refusedRoute(exchange: Exchange, { classification, message }: InboundModernRoute): Reply | undefined {
  const { revision } = classification
  const id = idOf(message)
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
  return errorReply(400, { code: headerMismatchCode, message: `Headers and body disagree: ${problem}.`, data }, { id })
}

function nameProblem(header: string | undefined, name: unknown): readonly string[] {
  if (typeof name !== 'string') return []
  if (header === undefined) return ['the header mcp-name is missing']
  const decoded = decodeHeader(header.trim())
  return decoded === name ? [] : [`the header mcp-name is not the name in the body, ${JSON.stringify(printable(name))}`]
}
