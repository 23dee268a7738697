import type { Readable, Writable } from 'node:stream'
import {
  CLIENT_INFO_META_KEY,
  type InitializeRequestParams,
  isInitializeRequest,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type McpServer,
  type MessageExtraInfo,
  ProtocolErrorCode,
  type RequestId,
  type Server,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server'
import { serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio'
import { type Failure, isFailure } from '@unfold-mcp/core'
import { checkSize } from '../catalog/message-limits.ts'
import { isOwn, operationFor } from '../operations/index.ts'
import { malformedRequest } from '../operations/params.ts'
import { envelopeError, hasEnvelope } from '../protocol/envelope.ts'
import { noteLogLevel } from '../protocol/log-level.ts'
import { textOf } from '../protocol/reply-stream.ts'
import { RunningRequests } from '../protocol/running-requests.ts'
import { follow, lowLevel, sdkHost, sendListChanged, statelessRevision } from '../protocol/sdk-host.ts'
import { SessionPort } from '../protocol/session-port.ts'
import { StatelessPort } from '../protocol/stateless-port.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { runtimeOf, type Servable } from '../runtime/servable.ts'
import type { Scope } from '../scope/scope.ts'
import { viewOfUrl } from '../scope/url-view.ts'
import type { ClientPort } from '../tool/client-port.ts'
import type { Era } from '../tool/context.ts'
import type { Principal } from '../tool/principal.ts'
import { duplicateId } from '../wire/errors.ts'
import { LineTransport } from './lines.ts'

export interface StdioOptions<P extends Principal = Principal> {
  /** What the client sees from the start, as an address would ask for it: `groups=a,b&tags=c`. */
  readonly view?: string
  /** Who the client is; there are no requests to tell from. */
  readonly principal?: P
  /** Instead of the process's own standard input and output. */
  readonly transport?: Transport
  /** The same for streams that carry one message a line. */
  readonly streams?: { readonly input: Readable; readonly output: Writable }
  /** Called with what the client says it is, once it has. */
  readonly onClient?: (client: StdioClient) => void
  readonly onerror?: (error: Error) => void
}

/** The client at the other end, as far as it says. */
export interface StdioClient {
  readonly era: 'session' | 'stateless'
  readonly name: string | undefined
  readonly version: string | undefined
}

let connections = 0

/** Serves a toolbox to the one client at the other end of standard input and output, of either protocol era. */
export function serveStdio<P extends Principal = Principal>(
  served: Servable<P>,
  { view: asked = '', principal, transport, streams, onClient, onerror }: StdioOptions<P> = {},
): { close(): Promise<void> } {
  const runtime = runtimeOf(served)
  const view = viewOfUrl(new URLSearchParams(asked))
  runtime.scopes.checkView(view, principal)
  const { input, output } = streams ?? { input: process.stdin, output: process.stdout }
  const arrived = runtime.scopes.expectConnection()
  const connection = new StdioConnection(transport ?? new LineTransport(input, output), runtime, (era, { client, info }) => {
    onClient?.({ era, name: info?.name, version: info?.version })
    return runtime.scopes.open({ key: `connection:${++connections}`, era, principal, view, client }).finally(arrived)
  })
  const stdio = serveSdkStdio(({ era }) => connection.host(era === 'modern' ? 'stateless' : 'session'), {
    transport: connection,
    ...(onerror !== undefined && { onerror }),
  })
  return {
    close: () => {
      arrived()
      return stdio.close()
    },
  }
}

/** What a client stated about itself in its first messages. */
interface Introduced {
  readonly client: InitializeRequestParams | undefined
  readonly info: { readonly name?: string; readonly version?: string } | undefined
}

type OpenScope = (era: Era, introduced: Introduced) => Promise<Scope>

/** A client on a scope, with the SDK's server for what is not ours to answer. */
interface Pinned {
  readonly scope: Scope
  readonly host: Server | McpServer
}

/**
 * The one connection of a server over stdio. Requests for our own methods are answered here; all others go on to the SDK, which
 * finds out the era of the connection from its first messages.
 */
class StdioConnection implements Transport {
  readonly #wire: Transport
  readonly #runtime: Runtime
  readonly #open: OpenScope
  readonly #running: RunningRequests
  /** The requests that are not answered yet. */
  readonly #pending = new Set<RequestId>()
  #pinned: { readonly era: Era; readonly made: Promise<Pinned> } | undefined
  #client: InitializeRequestParams | undefined
  #info: Introduced['info']
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void

  constructor(wire: Transport, runtime: Runtime, open: OpenScope) {
    this.#wire = wire
    this.#runtime = runtime
    this.#open = open
    this.#running = new RunningRequests(runtime)
  }

  async start(): Promise<void> {
    this.#wire.onclose = () => {
      this.#running.cancelAll()
      this.onclose?.()
    }
    this.#wire.onerror = (error) => this.onerror?.(error)
    this.#wire.onmessage = (message, extra) => {
      if ('method' in message && message.method === 'initialize' && isInitializeRequest(message)) this.#client = message.params
      this.#info ??= this.#client?.clientInfo ?? infoIn(message)
      if (!('method' in message)) this.onmessage?.(message, extra)
      else if ('id' in message) this.#request(message, extra)
      else this.#notification(message, extra)
    }
    await this.#wire.start()
  }

  /** The SDK's server, for the SDK to connect when it knows the era. */
  async host(era: Era): Promise<Server | McpServer> {
    return (await this.#pin(era)).host
  }

  /** A client that only asked what the server speaks may go on in the other era, on another scope. */
  #pin(era: Era): Promise<Pinned> {
    if (this.#pinned?.era !== era) {
      const pinned = { era, made: this.#opened(era) }
      this.#pinned = pinned
      // A scope that could not be opened is tried again with the next request.
      pinned.made.catch(() => {
        if (this.#pinned === pinned) this.#pinned = undefined
      })
    }
    return this.#pinned.made
  }

  async #opened(era: Era): Promise<Pinned> {
    const runtime = this.#runtime
    const scope = await this.#open(era, { client: this.#client, info: this.#info })
    const host = sdkHost(runtime, scope)
    const attach = (): void =>
      runtime.announcer.attach(scope, async () => {
        await sendListChanged(runtime, host)
        return runtime.declaration.listChanged
      })
    if (era === 'stateless') attach()
    follow(host, { ...(era === 'session' && { initialized: attach }), closed: () => void runtime.scopes.close(scope) })
    return { scope, host }
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message) && message.id !== undefined) this.#pending.delete(message.id)
    return this.#wire.send(message, options)
  }

  #request(request: JSONRPCRequest, extra: MessageExtraInfo | undefined): void {
    const { id } = request
    // With its own id, this response would be taken for that to the first.
    if (this.#pending.has(id)) {
      this.#refuse(null, duplicateId(id), -32600)
      return
    }
    const failure = malformedRequest(request) ?? sizeProblem(request, this.#runtime)
    if (failure !== undefined) {
      this.#refuse(id, failure, -32602)
      return
    }
    this.#pending.add(id)
    void this.#pinned?.made.then(
      ({ scope }) => noteLogLevel(scope, request),
      () => undefined,
    )
    if (isOwn(request.method)) void this.#own(request, extra)
    else this.onmessage?.(request, extra)
  }

  /** A request for one of our own methods, which may be the first of the connection. */
  async #own(request: JSONRPCRequest, extra: MessageExtraInfo | undefined): Promise<void> {
    const { id, params = {} } = request
    const era = this.#pinned?.era === 'session' || !hasEnvelope(params) ? (this.#pinned?.era ?? 'session') : 'stateless'
    const error = era === 'stateless' ? envelopeError(params) : undefined
    if (error !== undefined) {
      await this.#fail(id, error)
      return
    }
    try {
      await this.#dispatch(request, extra, await this.#pin(era))
    } catch (problem) {
      this.onerror?.(problem instanceof Error ? problem : new Error(String(problem)))
      await this.#fail(id, { code: ProtocolErrorCode.InternalError, message: 'Internal server error' })
    }
  }

  async #fail(id: RequestId, error: { readonly code: number; readonly message: string }): Promise<void> {
    this.#pending.delete(id)
    await this.#wire.send({ jsonrpc: '2.0', id, error }).catch(() => undefined)
  }

  async #dispatch(request: JSONRPCRequest, extra: MessageExtraInfo | undefined, { scope, host }: Pinned): Promise<void> {
    const { id, method, params = {} } = request
    const operation = operationFor(this.#runtime, scope, method)
    if (operation === undefined) {
      this.onmessage?.(request, extra)
      return
    }
    // It may have been cancelled while the scope was being opened.
    if (!this.#pending.has(id)) return
    const server = lowLevel(host)
    const notify: ClientPort['notify'] = (name, about) =>
      this.send({ jsonrpc: '2.0', method: name, ...(about !== undefined && { params: about }) } as JSONRPCMessage)
    const isSession = scope.settings.era === 'session'
    const response = await this.#running.run(id, operation, scope, {
      id,
      params,
      client: isSession ? new SessionPort(server, scope, id) : new StatelessPort(params, notify),
      revision: isSession ? server.getNegotiatedProtocolVersion() : statelessRevision,
    })
    if (response === undefined) return
    this.#pending.delete(id)
    await this.#wire.send(JSON.parse(textOf(response.json)) as JSONRPCMessage).catch(() => undefined)
  }

  #notification(notification: JSONRPCNotification, extra: MessageExtraInfo | undefined): void {
    if (notification.method === 'notifications/cancelled') this.#cancel(notification.params?.requestId as RequestId)
    this.onmessage?.(notification, extra)
  }

  /** A request that was cancelled gets no response. */
  #cancel(id: RequestId): void {
    this.#pending.delete(id)
    this.#running.cancel(id)
  }

  #refuse(id: RequestId | null, { reason, message, details }: Failure, code: number): void {
    const error = { code, message, data: { reason, ...details } }
    void this.#wire.send({ jsonrpc: '2.0', id: id as RequestId, error }).catch(() => undefined)
  }

  close(): Promise<void> {
    return this.#wire.close()
  }
}

/** The name and version that a 2026-07-28 client sends with every request. */
function infoIn(message: JSONRPCMessage): Introduced['info'] {
  if (!('method' in message)) return undefined
  const { name, version } = (message.params?._meta?.[CLIENT_INFO_META_KEY] ?? {}) as {
    readonly name?: unknown
    readonly version?: unknown
  }
  return typeof name === 'string' ? { name, ...(typeof version === 'string' && { version }) } : undefined
}

function sizeProblem(message: JSONRPCRequest, runtime: Runtime): Failure | undefined {
  try {
    checkSize(message, runtime.declaration.messageLimits)
    return undefined
  } catch (error) {
    if (isFailure(error)) return error
    throw error
  }
}
