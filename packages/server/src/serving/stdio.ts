import type { Readable, Writable } from 'node:stream'
import {
  CLIENT_INFO_META_KEY,
  type InitializeRequestParams,
  isInitializeRequest,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type MessageExtraInfo,
  type RequestId,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server'
import { serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio'
import { type Failure, isFailure } from '@unfold-mcp/core'
import type { Principal } from '../principal.ts'
import { checkSize } from '../runtime/limits.ts'
import { malformedRequest } from '../runtime/params.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { type UrlView, viewOfUrl } from '../runtime/url-view.ts'
import { runtimeOf } from '../servable.ts'
import { duplicateId } from './errors.ts'
import { LineTransport } from './lines.ts'
import { follow, protocolServer, sendListChanged } from './protocol.ts'

export interface StdioOptions {
  /** What the client sees from the start, as an address would ask for it: `groups=a,b&tags=c`. */
  readonly view?: string
  /** Who the client is; there are no requests to tell from. */
  readonly principal?: Principal
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
export function serveStdio(
  served: object,
  { view: asked = '', principal, transport, streams, onClient, onerror }: StdioOptions = {},
): { close(): Promise<void> } {
  const runtime = runtimeOf(served)
  const view = viewOfUrl(new URLSearchParams(asked))
  runtime.checkView(view, principal)
  const { input, output } = streams ?? { input: process.stdin, output: process.stdout }
  const wire = new CheckedTransport(transport ?? new LineTransport(input, output), runtime)
  const arrived = runtime.expectConnection()
  const opened = (sdkEra: 'legacy' | 'modern') => {
    const era = sdkEra === 'modern' ? 'stateless' : 'session'
    onClient?.({ era, name: wire.info?.name, version: wire.info?.version })
    return connect(runtime, era, { view, principal, wire }).finally(arrived)
  }
  const stdio = serveSdkStdio(({ era }) => opened(era), { transport: wire, ...(onerror !== undefined && { onerror }) })
  return {
    close: () => {
      arrived()
      return stdio.close()
    },
  }
}

async function connect(
  runtime: Runtime,
  era: 'session' | 'stateless',
  { view, principal, wire }: { view: UrlView; principal: Principal | undefined; wire: CheckedTransport },
) {
  const { client } = wire
  const scope = await runtime.open({ key: `connection:${++connections}`, era, principal, view, client })
  const product = protocolServer(runtime, scope)
  const attach = (): void =>
    runtime.announcer.attach(scope, async () => {
      await sendListChanged(runtime, product)
      return runtime.declaration.listChanged
    })
  if (era === 'stateless') attach()
  follow(product, { ...(era === 'session' && { initialized: attach }), closed: () => void runtime.close(scope) })
  return product
}

/** A transport that answers requests nobody could serve, with the reason, and passes on the rest. */
class CheckedTransport implements Transport {
  readonly #wire: Transport
  readonly #runtime: Runtime
  /** The requests that are not answered yet. */
  readonly #answering = new Set<RequestId>()
  /** What the client said of itself when it initialised. */
  client: InitializeRequestParams | undefined
  /** Its name and version, as it said them first. */
  info: { readonly name?: string; readonly version?: string } | undefined
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void

  constructor(wire: Transport, runtime: Runtime) {
    this.#wire = wire
    this.#runtime = runtime
  }

  async start(): Promise<void> {
    this.#wire.onclose = () => this.onclose?.()
    this.#wire.onerror = (error) => this.onerror?.(error)
    this.#wire.onmessage = (message, extra) => {
      if ('method' in message && message.method === 'initialize' && isInitializeRequest(message)) this.client = message.params
      this.info ??= this.client?.clientInfo ?? infoIn(message)
      if (!('method' in message)) this.onmessage?.(message, extra)
      else if ('id' in message) this.#request(message, extra)
      else this.#notification(message, extra)
    }
    await this.#wire.start()
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message) && message.id !== undefined) this.#answering.delete(message.id)
    return this.#wire.send(message, options)
  }

  #request(request: JSONRPCRequest, extra: MessageExtraInfo | undefined): void {
    const { id } = request
    // With its own id, this answer would be taken for that to the first.
    if (this.#answering.has(id)) {
      this.#refuse(null, duplicateId(id), -32600)
      return
    }
    const failure = malformedRequest(request) ?? sizeProblem(request, this.#runtime)
    if (failure !== undefined) {
      this.#refuse(id, failure, -32602)
      return
    }
    this.#answering.add(id)
    this.onmessage?.(request, extra)
  }

  #notification(notification: JSONRPCNotification, extra: MessageExtraInfo | undefined): void {
    const { requestId } = notification.params ?? {}
    // What is cancelled is not answered.
    if (notification.method === 'notifications/cancelled') this.#answering.delete(requestId as RequestId)
    this.onmessage?.(notification, extra)
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
function infoIn(message: JSONRPCMessage): CheckedTransport['info'] {
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
