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
import { recordLogLevel } from '../protocol/log-level.ts'
import { toText } from '../protocol/reply-stream.ts'
import { RunningRequests } from '../protocol/running-requests.ts'
import { addLifecycleCallbacks, lowLevel, sdkHost, sendListChanged, statelessRevision } from '../protocol/sdk-host.ts'
import { SessionPort } from '../protocol/session/session-port.ts'
import { StatelessPort } from '../protocol/stateless-port.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { runtimeOf, type Servable } from '../runtime/servable.ts'
import type { Scope } from '../scope/scope.ts'
import { viewOfUrl } from '../scope/url-view.ts'
import type { ClientPort } from '../tool/client-port.ts'
import type { Era } from '../tool/context.ts'
import type { Principal } from '../tool/principal.ts'
import { duplicateId } from '../wire/errors.ts'
import { LineTransport } from './line-transport.ts'
import { type RejectionOptions, watchRejections } from './rejections.ts'

export interface StdioOptions<P extends Principal = Principal> extends RejectionOptions {
  /** Initial view, in URL query syntax: `groups=a,b&tags=c`. */
  readonly view?: string
  /** Principal of the client. */
  readonly principal?: P
  /** Default: a transport over `streams`. */
  readonly transport?: Transport
  /** Streams with one message per line. Default: stdin and stdout of the process. */
  readonly streams?: { readonly input: Readable; readonly output: Writable }
  /** Called when the client has identified itself. */
  readonly onClient?: (client: StdioClient) => void
  readonly onerror?: (error: Error) => void
}

/** The client, as it identified itself. */
export interface StdioClient {
  readonly era: 'session' | 'stateless'
  readonly name: string | undefined
  readonly version: string | undefined
}

let connections = 0

/** Serves a toolbox over stdio to one client of either protocol era. */
export function serveStdio<P extends Principal = Principal>(
  served: Servable<P>,
  { view: query = '', principal, transport, streams, onClient, onerror, reportRejections = true }: StdioOptions<P> = {},
): { close(): Promise<void> } {
  const runtime = runtimeOf(served)
  const view = viewOfUrl(new URLSearchParams(query))
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
  // Other streams and transports are those of a larger program.
  const isOfProcess = transport === undefined && streams === undefined
  const stopWatching = reportRejections && isOfProcess ? watchRejections(runtime, 'own') : undefined
  return {
    close: () => {
      stopWatching?.()
      arrived()
      return stdio.close()
    },
  }
}

/** Sent by the client in its first messages. */
interface ClientIntroduction {
  readonly client: InitializeRequestParams | undefined
  readonly info: { readonly name?: string; readonly version?: string } | undefined
}

type OpenScope = (era: Era, introduction: ClientIntroduction) => Promise<Scope>

/** Scope and SDK server of the client in one era. */
interface EraHost {
  readonly scope: Scope
  readonly host: Server | McpServer
}

/**
 * The connection of a server over stdio. It handles requests for our own methods; all others go to the SDK, which detects the
 * era of the connection from its first messages.
 */
class StdioConnection implements Transport {
  readonly #transport: Transport
  readonly #runtime: Runtime
  readonly #open: OpenScope
  readonly #running: RunningRequests
  /** Requests without a response yet. */
  readonly #pending = new Set<RequestId>()
  #current: { readonly era: Era; readonly opened: Promise<EraHost> } | undefined
  #client: InitializeRequestParams | undefined
  #info: ClientIntroduction['info']
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void

  constructor(transport: Transport, runtime: Runtime, open: OpenScope) {
    this.#transport = transport
    this.#runtime = runtime
    this.#open = open
    this.#running = new RunningRequests(runtime)
  }

  async start(): Promise<void> {
    this.#transport.onclose = () => {
      this.#running.cancelAll()
      this.onclose?.()
    }
    this.#transport.onerror = (error) => this.onerror?.(error)
    this.#transport.onmessage = (message, extra) => {
      if ('method' in message && message.method === 'initialize' && isInitializeRequest(message)) this.#client = message.params
      this.#info ??= this.#client?.clientInfo ?? clientInfoIn(message)
      if (!('method' in message)) this.onmessage?.(message, extra)
      else if ('id' in message) this.#request(message, extra)
      else this.#notification(message, extra)
    }
    await this.#transport.start()
  }

  /** Returns the SDK's server, when the SDK has detected the era. */
  async host(era: Era): Promise<Server | McpServer> {
    return (await this.#hostFor(era)).host
  }

  /** Opens a new scope when the era changes: a client may probe the server in one era and continue in the other. */
  #hostFor(era: Era): Promise<EraHost> {
    if (this.#current?.era !== era) {
      const current = { era, opened: this.#openHost(era) }
      this.#current = current
      // The next request retries if the scope could not be opened.
      current.opened.catch(() => {
        if (this.#current === current) this.#current = undefined
      })
    }
    return this.#current.opened
  }

  async #openHost(era: Era): Promise<EraHost> {
    const runtime = this.#runtime
    const scope = await this.#open(era, { client: this.#client, info: this.#info })
    const host = sdkHost(runtime, scope)
    const attach = (): void =>
      runtime.announcer.attach(scope, async () => {
        await sendListChanged(runtime, host)
        return runtime.declaration.listChanged
      })
    if (era === 'stateless') attach()
    addLifecycleCallbacks(host, {
      ...(era === 'session' && { initialized: attach }),
      closed: () => void runtime.scopes.close(scope),
    })
    return { scope, host }
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message) && message.id !== undefined) this.#pending.delete(message.id)
    return this.#transport.send(message, options)
  }

  #request(request: JSONRPCRequest, extra: MessageExtraInfo | undefined): void {
    const { id } = request
    // With its id, the client would take this for the response to the first request.
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
    void this.#current?.opened.then(
      ({ scope }) => recordLogLevel(scope, request),
      () => undefined,
    )
    if (isOwn(request.method)) void this.#handleOwn(request, extra)
    else this.onmessage?.(request, extra)
  }

  /** Handles a request for one of our own methods, which may be the first of the connection. */
  async #handleOwn(request: JSONRPCRequest, extra: MessageExtraInfo | undefined): Promise<void> {
    const { id, params = {} } = request
    const era = this.#current?.era === 'session' || !hasEnvelope(params) ? (this.#current?.era ?? 'session') : 'stateless'
    const error = era === 'stateless' ? envelopeError(params) : undefined
    if (error !== undefined) {
      await this.#fail(id, error)
      return
    }
    try {
      await this.#dispatch(request, extra, await this.#hostFor(era))
    } catch (problem) {
      this.onerror?.(problem instanceof Error ? problem : new Error(String(problem)))
      await this.#fail(id, { code: ProtocolErrorCode.InternalError, message: 'Internal server error' })
    }
  }

  async #fail(id: RequestId, error: { readonly code: number; readonly message: string }): Promise<void> {
    this.#pending.delete(id)
    await this.#transport.send({ jsonrpc: '2.0', id, error }).catch(() => undefined)
  }

  async #dispatch(request: JSONRPCRequest, extra: MessageExtraInfo | undefined, { scope, host }: EraHost): Promise<void> {
    const { id, method, params = {} } = request
    const operation = operationFor(this.#runtime, scope, method)
    if (operation === undefined) {
      this.onmessage?.(request, extra)
      return
    }
    // Cancelled while the scope was opening.
    if (!this.#pending.has(id)) return
    const server = lowLevel(host)
    const notify: ClientPort['notify'] = (name, args) =>
      this.send({ jsonrpc: '2.0', method: name, ...(args !== undefined && { params: args }) } as JSONRPCMessage)
    const isSession = scope.settings.era === 'session'
    const response = await this.#running.run(id, operation, scope, {
      id,
      params,
      client: isSession ? new SessionPort(server, scope, id) : new StatelessPort(params, notify),
      revision: isSession ? server.getNegotiatedProtocolVersion() : statelessRevision,
    })
    if (response === undefined) return
    this.#pending.delete(id)
    await this.#transport.send(JSON.parse(toText(response.json)) as JSONRPCMessage).catch(() => undefined)
  }

  #notification(notification: JSONRPCNotification, extra: MessageExtraInfo | undefined): void {
    if (notification.method === 'notifications/cancelled') this.#cancel(notification.params?.requestId as RequestId)
    this.onmessage?.(notification, extra)
  }

  #cancel(id: RequestId): void {
    this.#pending.delete(id)
    this.#running.cancel(id)
  }

  #refuse(id: RequestId | null, { reason, message, details }: Failure, code: number): void {
    const error = { code, message, data: { reason, ...details } }
    void this.#transport.send({ jsonrpc: '2.0', id: id as RequestId, error }).catch(() => undefined)
  }

  close(): Promise<void> {
    return this.#transport.close()
  }
}

/** Returns the client info that 2026-07-28 clients send with every request. */
function clientInfoIn(message: JSONRPCMessage): ClientIntroduction['info'] {
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
