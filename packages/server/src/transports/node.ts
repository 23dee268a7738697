import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ReadableStream } from 'node:stream/web'
import { Failure, printable } from '@unfold-mcp/core'
import { runtimeOf, type Servable } from '../runtime/servable.ts'
import type { Principal } from '../tool/principal.ts'
import { isLoopbackAddress, networkOf } from '../wire/address.ts'
import { failureReply } from '../wire/errors.ts'
import { type BufferedReply, type Exchange, isBuffered } from '../wire/exchange.ts'
import { maxUnreadBytes } from '../wire/sse.ts'
import { TrustedProxies } from './client-address.ts'
import { Connections } from './connections.ts'
import { createHandler, type Handler, type HandlerOptions } from './handler.ts'
import { refusedOrigin } from './origin.ts'
import { type RejectionOptions, watchRejections } from './rejections.ts'
import { chunkBytes, ReplyWriter } from './reply-writer.ts'
import { RequestBodies } from './request-bodies.ts'
import type { SlowClientOptions } from './slow-client.ts'
import { UnsentReplies } from './unsent-replies.ts'

// Longer than load balancers keep idle connections (60 s is common), so that they never send a request on one that is being closed here.
const keepAliveTimeoutMs = 75_000

export interface ListenOptions<P extends Principal = Principal> extends HandlerOptions<P>, SlowClientOptions, RejectionOptions {
  /** 0 selects a free port. Default: 7420. */
  readonly port?: number
  /** Address to bind. Default: 127.0.0.1. */
  readonly host?: string
  /** Path of the MCP endpoint. Default: `/mcp`. */
  readonly path?: string
  /** Also serves paths below `path`, for `authenticate` to distinguish. */
  readonly subpaths?: boolean
  /** Handles all other paths, after the Host and Origin checks. The request has no body: `exchange.body` reads it. */
  readonly fallback?: (request: Request, exchange: Exchange) => Response | Promise<Response>
  /** @deprecated Use `fallback`. */
  readonly elsewhere?: (request: Request) => Response | Promise<Response>
  /** Timeout for the headers of a request. Default: 20,000. */
  readonly headersTimeoutMs?: number
  /** Timeout for a whole request. Default: 120,000. */
  readonly requestTimeoutMs?: number
  /** Maximum number of open connections; more get 503. Default: no limit. */
  readonly maxConnections?: number
  /** Addresses and networks of reverse proxies whose `X-Forwarded-For` or `Forwarded` header is trusted. Default: none. */
  readonly trustedProxies?: readonly string[]
}

/** A toolbox served over HTTP. */
export interface ListeningServer extends AsyncDisposable {
  /** URL of the MCP endpoint. */
  readonly url: string
  readonly handler: Handler
  readonly server: HttpServer
  close(): Promise<void>
}

/** Serves a toolbox over HTTP. Resolves when the server is listening. */
export async function listen<P extends Principal = Principal>(
  served: Servable<P>,
  options: ListenOptions<P> = {},
): Promise<ListeningServer> {
  const { port = 7420, host = '127.0.0.1', path = '/mcp', headersTimeoutMs = 20_000, requestTimeoutMs = 120_000 } = options
  await runtimeOf(served).scopes.validate()
  const handler = createHandler(served, options)
  // Bounds how long a client that sends its request byte by byte holds a socket.
  const timeouts = {
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.ceil(Math.min(headersTimeoutMs, requestTimeoutMs) / 4),
  }
  const { fallback = options.elsewhere } = options
  const proxies = new TrustedProxies(options.trustedProxies ?? [])
  const handle: Handler['handle'] = async (exchange) => {
    if (matchesPath(exchange.url, path, options.subpaths)) return handler.handle(exchange)
    if (fallback === undefined) return notFound(exchange.url, path)
    return refusedOrigin(exchange, options) ?? refusedMethod(exchange.method) ?? fallback(exchange.request(), exchange)
  }
  const traffic = trafficWith(options)
  const peer = { clientAddress: proxies.clientAddress.bind(proxies), isSecure: proxies.isSecure.bind(proxies) }
  const server = createServer(timeouts, (request, response) => {
    const refusal = connections?.refusal(request)
    void respond(refusal === undefined ? handle : async () => refusal, { request, response, ...peer, ...traffic })
  })
  // All clients of a proxy share its address.
  const holderOf = (address: string): string | undefined =>
    isLoopbackAddress(address) || proxies.includes(address) ? undefined : networkOf(address)
  const connections =
    options.maxConnections === undefined ? undefined : new Connections(server, { max: options.maxConnections, holderOf })
  await bind(server, port, host)
  const reported = options.servedTo === undefined ? 'own' : 'handlers'
  const stopWatching = options.reportRejections === false ? undefined : watchRejections(runtimeOf(served), reported)
  const close = async (): Promise<void> => {
    stopWatching?.()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    await handler.close()
    server.closeAllConnections()
    await closed
  }
  const address = server.address() as AddressInfo
  const hostname = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return { url: `http://${hostname}:${address.port}${path}`, handler, server, close, [Symbol.asyncDispose]: close }
}

/** Converts a handler for `node:http`, Express and similar frameworks. */
export function toNodeHandler(
  handler: Handler,
  options: SlowClientOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  const traffic = trafficWith(options)
  return (request, response) => {
    void respond(handler.handle, { request, response, ...unknownPeer, ...traffic })
  }
}

// A framework knows which of its proxies to trust; the socket's address may be that of a proxy.
const unknownPeer = { clientAddress: () => undefined, isSecure: () => false }

/** What the connections of a server have in common. */
interface Traffic {
  readonly replies: UnsentReplies
  readonly bodies: RequestBodies
}

interface NodeExchange extends Traffic {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Returns the address of the client, if it is known. */
  readonly clientAddress: (request: IncomingMessage) => string | undefined
  readonly isSecure: (request: IncomingMessage) => boolean
}

const trafficWith = (options: SlowClientOptions): Traffic => ({
  replies: new UnsentReplies(options),
  bodies: new RequestBodies(options),
})

async function bind(server: HttpServer, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error)
      const message = `Port ${port} on ${host} is in use. Stop the process that uses it, or choose another port (--http <port>).`
      reject(new Failure('port_in_use', message, { port }, { cause: error }))
    })
    server.listen(port, host, resolve)
  })
}

// A web-standard Request cannot have these methods.
function refusedMethod(method: string): BufferedReply | undefined {
  if (!['CONNECT', 'TRACE', 'TRACK'].includes(method)) return undefined
  const failure = new Failure('unsupported_method', `Method ${method} is not allowed.`, { method, allowed: ['GET'] })
  return failureReply(405, failure, { code: -32000, headers: { allow: 'GET' } })
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? url

function matchesPath(url: string, path: string, subpaths = false): boolean {
  const requested = pathOf(url)
  return requested === path || (subpaths && requested.startsWith(`${path}/`) && isNormalized(requested))
}

/** False for `/mcp/../admin`, which is not below `/mcp`. */
const isNormalized = (path: string): boolean =>
  URL.canParse(path, 'http://localhost') && new URL(path, 'http://localhost').pathname === path

function notFound(url: string, path: string): BufferedReply {
  const failure = new Failure('unknown_path', `Not found. MCP clients connect to ${path}.`, {
    path: printable(pathOf(url)),
  })
  return failureReply(404, failure, { code: -32000 })
}

function respond(handle: Handler['handle'], exchange: NodeExchange): Promise<void> {
  const { request, response } = exchange
  // An unread rest of the body would keep the connection from being reused.
  const finish = (): void => void request.resume()
  const failed = (): void => {
    // The client disconnected, or the reply failed midway.
    response.destroy()
    finish()
  }
  return handle(new NodeRequest(exchange))
    .then((reply) => (isBuffered(reply) ? write(exchange, reply) : send(exchange, reply)))
    .then(finish, failed)
}

const lingerMs = 2_000

function write(exchange: NodeExchange, { status, headers, parts }: BufferedReply): void {
  const { request, response, replies } = exchange
  if (response.destroyed) return
  const size = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0)
  const sized = { ...headers, 'content-length': size }
  if (!request.complete) {
    response.writeHead(status, { ...sized, connection: 'close' })
    for (const part of parts) response.write(part)
    trackUnsent(exchange)
    endAfterRequest(request, response)
    return
  }
  response.writeHead(status, sized)
  if (size > chunkBytes) {
    const writer = new ReplyWriter(replies, request, response)
    for (const part of parts) writer.write(part)
    writer.end()
    return
  }
  for (const part of parts.slice(0, -1)) response.write(part)
  // end() with the last part sends everything in one packet.
  response.end(parts.at(-1))
  trackUnsent(exchange)
}

/** Tracks a short reply that the socket did not take at once. */
function trackUnsent({ request, response, replies }: NodeExchange): void {
  if (response.writableLength > 0) replies.track(request, response).add(response.writableLength)
}

// Closing at once would lose the reply for a client that is still sending; waiting for all of it could take forever.
function endAfterRequest(request: IncomingMessage, response: ServerResponse): void {
  const end = (): void => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, lingerMs)
  request.once('end', end).once('close', end)
}

// Not async: a function that waits for the end of a stream would keep the reply and its headers in memory until then.
function send(exchange: NodeExchange, reply: Response): Promise<void> | undefined {
  const { response } = exchange
  // `connection` is hop-by-hop: Node sets it.
  const { connection: _, ...headers } = Object.fromEntries(reply.headers)
  const { status, body } = reply
  // Piping would send headers, body and end in three packets.
  if (body !== null && headers['content-type']?.startsWith('text/event-stream') !== true)
    return reply.arrayBuffer().then((bytes) => write(exchange, { status, headers, parts: [new Uint8Array(bytes)] }))
  response.writeHead(status, headers)
  if (body === null) {
    response.end()
    return undefined
  }
  response.flushHeaders()
  return pipeEvents(body, exchange)
}

/** Sends events as they arrive. Disconnects a client that leaves too much unread. */
async function pipeEvents(events: unknown, { request, response, replies }: NodeExchange): Promise<void> {
  // Programs with the DOM types have two incompatible ReadableStream types.
  const reader = (events as ReadableStream<Uint8Array>).getReader()
  const stop = (): void => {
    reader.cancel().catch(() => undefined)
  }
  if (response.closed) stop()
  response.on('close', stop)
  const writer = new ReplyWriter(replies, request, response)
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (writer.unsentBytes > maxUnreadBytes) throw new Error('The client does not read its stream.')
    writer.write(next.value)
  }
  writer.end()
}

/** A class: a getter in an object literal would give every request a hidden class of its own, which costs a tenth of a short reply. */
class NodeRequest implements Exchange {
  readonly method: string
  readonly url: string
  readonly #exchange: NodeExchange
  #converted: Request | undefined

  constructor(exchange: NodeExchange) {
    const { method, url } = exchange.request
    this.method = method?.toUpperCase() ?? 'GET'
    this.url = url ?? '/'
    this.#exchange = exchange
  }

  /** Most requests have a principal, so their address is never read. */
  get address(): string | undefined {
    return this.#exchange.clientAddress(this.#exchange.request)
  }

  get isSecure(): boolean {
    return this.#exchange.isSecure(this.#exchange.request)
  }

  header(name: string): string | undefined {
    const value = this.#exchange.request.headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }

  body(limit: number): Promise<Uint8Array | undefined> {
    return readBytes(this.#exchange.request, limit, this.#exchange.bodies)
  }

  onDisconnect(listener: () => void): void {
    onDisconnect(this.#exchange.response, listener)
  }

  request(): Request {
    this.#converted ??= toWebRequest(this.#exchange.request, this.#exchange.response, this.method)
    return this.#converted
  }
}

function onDisconnect(response: ServerResponse, listener: () => void): void {
  const closed = (): void => {
    if (!response.writableFinished) listener()
  }
  if (response.closed) closed()
  else response.once('close', closed)
}

function toWebRequest(request: IncomingMessage, response: ServerResponse, method: string): Request {
  const controller = new AbortController()
  onDisconnect(response, () => controller.abort())
  const headers = new Headers()
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2)
    headers.append(request.rawHeaders[i] ?? '', request.rawHeaders[i + 1] ?? '')
  return new Request(absoluteUrl(request), { method, headers, signal: controller.signal })
}

/** Falls back to a fixed URL, because clients can send anything. */
function absoluteUrl({ url = '/', headers }: IncomingMessage): URL {
  const host = `http://${headers.host ?? 'localhost'}`
  return URL.canParse(url, host) ? new URL(url, host) : new URL('http://localhost/')
}

// Uses events: leaving a `for await` loop early would close the socket before the client gets the 413.
function readBytes(request: IncomingMessage, limit: number, bodies: RequestBodies): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    if (request.readableEnded) return resolve(withinLimit(parsedBody(request), limit))
    if (request.destroyed) return reject(new Error('The client disconnected before it sent the whole request.'))
    if (Number(request.headers['content-length']) > limit) return resolve(undefined)
    let chunks: Buffer[] = []
    let size = 0
    const body = bodies.open(request, limit)
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength
      if (size <= limit) {
        body.add(chunk.byteLength)
        return chunks.push(chunk)
      }
      chunks = []
      body.close()
      return resolve(undefined)
    })
    request.once('end', () => {
      body.close()
      resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
    })
    request.once('error', reject)
    request.once('close', () => {
      chunks = []
      body.close()
      if (!request.readableEnded) reject(new Error('The client disconnected before it sent the whole request.'))
    })
  })
}

/** Returns the body that a framework such as Express has already read. */
function parsedBody({ body }: IncomingMessage & { body?: unknown }): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body)
  return Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''))
}

const withinLimit = (bytes: Buffer, limit: number): Buffer | undefined => (bytes.length > limit ? undefined : bytes)
