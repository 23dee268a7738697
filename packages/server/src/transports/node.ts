import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ReadableStream } from 'node:stream/web'
import { Failure, printable } from '@unfold-mcp/core'
import { runtimeOf, type Servable } from '../runtime/servable.ts'
import type { Principal } from '../tool/principal.ts'
import { failureReply } from '../wire/errors.ts'
import { type Exchange, isWhole, type WholeReply } from '../wire/exchange.ts'
import { Connections } from './connections.ts'
import { createHandler, type Handler, type HandlerOptions } from './handler.ts'
import { refusedOrigin } from './origin.ts'

export interface ListenOptions<P extends Principal = Principal> extends HandlerOptions<P> {
  /** 0 lets the system choose. */
  readonly port?: number
  /** The address to bind; loopback by default. */
  readonly host?: string
  /** Where clients reach it. */
  readonly path?: string
  /** `true`: also at addresses below `path`, for `authenticate` to tell apart. */
  readonly subpaths?: boolean
  /** Answers at all other addresses, with Host and Origin checked. The body of such a request is not read. */
  readonly elsewhere?: (request: Request) => Response | Promise<Response>
  /** How long a client may take to send the headers of a request; 20 seconds by default. */
  readonly headersTimeoutMs?: number
  /** How long a client may take to send a whole request; 2 minutes by default. */
  readonly requestTimeoutMs?: number
  /** How many connections may be open at once; what comes beyond is answered with 503. As many as the system allows by default. */
  readonly maxConnections?: number
}

/** A toolbox being served over HTTP. */
export interface Listening extends AsyncDisposable {
  /** Where clients connect. */
  readonly url: string
  readonly handler: Handler
  readonly server: HttpServer
  close(): Promise<void>
}

/** Serves a toolbox on an address of this machine. Done when it can be reached. */
export async function listen<P extends Principal = Principal>(
  served: Servable<P>,
  options: ListenOptions<P> = {},
): Promise<Listening> {
  const { port = 7420, host = '127.0.0.1', path = '/mcp', headersTimeoutMs = 20_000, requestTimeoutMs = 120_000 } = options
  await runtimeOf(served).scopes.validate()
  const handler = createHandler(served, options)
  // A client that sends its headers or body byte by byte holds a socket little longer than this.
  const patience = {
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.ceil(Math.min(headersTimeoutMs, requestTimeoutMs) / 4),
  }
  const { elsewhere } = options
  const answer: Answerer = async (exchange) => {
    if (isAt(exchange.url, path, options.subpaths)) return handler.answer(exchange)
    if (elsewhere === undefined) return nowhere(exchange.url, path)
    return refusedOrigin(exchange, options) ?? unaskable(exchange.method) ?? elsewhere(exchange.request())
  }
  const server = createServer(patience, (request, response) => {
    const refusal = connections?.refusal(request)
    void respond(refusal === undefined ? answer : async () => refusal, request, response)
  })
  const connections = options.maxConnections === undefined ? undefined : new Connections(server, options.maxConnections)
  await bound(server, port, host)
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    await handler.close()
    server.closeAllConnections()
    await closed
  }
  const address = server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return { url: `http://${name}:${address.port}${path}`, handler, server, close, [Symbol.asyncDispose]: close }
}

/** A handler for `node:http`, Express and the like. */
export function toNodeHandler(handler: Handler): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    void respond(handler.answer, request, response)
  }
}

async function bound(server: HttpServer, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error)
      const message = `Port ${port} on ${host} is in use. Stop what uses it, or choose another port (--http <port>).`
      reject(new Failure('port_in_use', message, { port }, { cause: error }))
    })
    server.listen(port, host, resolve)
  })
}

type Answerer = Handler['answer']

// A web-standard request cannot have these methods.
function unaskable(method: string): WholeReply | undefined {
  if (!['CONNECT', 'TRACE', 'TRACK'].includes(method)) return undefined
  const failure = new Failure('unsupported_method', `Nothing here is asked for with ${method}.`, { method, allowed: ['GET'] })
  return failureReply(405, failure, { code: -32000, headers: { allow: 'GET' } })
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? url

function isAt(url: string, path: string, subpaths = false): boolean {
  const at = pathOf(url)
  return at === path || (subpaths && at.startsWith(`${path}/`) && isPlain(at))
}

/** Whether it is the address it looks like: `/mcp/../admin` is not below `/mcp`. */
const isPlain = (path: string): boolean =>
  URL.canParse(path, 'http://localhost') && new URL(path, 'http://localhost').pathname === path

function nowhere(url: string, path: string): WholeReply {
  const failure = new Failure('unknown_path', `There is nothing here. MCP clients connect to ${path}.`, {
    path: printable(pathOf(url)),
  })
  return failureReply(404, failure, { code: -32000 })
}

async function respond(answer: Answerer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const reply = await answer(nodeExchange(request, response))
    if (isWhole(reply)) write(request, response, reply)
    else await send(request, response, reply)
  } catch {
    // The client went away, or the answer broke off; there is nobody left to tell.
    response.destroy()
  } finally {
    // What is left of a body that was refused would otherwise keep the connection from being used again.
    request.resume()
  }
}

const lingerMs = 2_000

function write(request: IncomingMessage, response: ServerResponse, { status, headers, parts }: WholeReply): void {
  if (response.destroyed) return
  const sized = { ...headers, 'content-length': parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0) }
  if (request.complete) {
    response.writeHead(status, sized)
    for (const part of parts.slice(0, -1)) response.write(part)
    // With the last part it goes out in one piece; Node would otherwise gather the pieces first.
    response.end(parts.at(-1))
    return
  }
  // Closing at once would take the answer back from a client that is still sending; waiting for all of it could take for ever.
  response.writeHead(status, { ...sized, connection: 'close' })
  for (const part of parts) response.write(part)
  const end = (): void => {
    clearTimeout(late)
    response.end()
  }
  const late = setTimeout(end, lingerMs)
  request.once('end', end).once('close', end)
}

async function send(request: IncomingMessage, response: ServerResponse, reply: Response): Promise<void> {
  // Whether the connection stays open is for the two ends of it to settle.
  const { connection: _, ...headers } = Object.fromEntries(reply.headers)
  if (reply.body !== null && headers['content-type']?.startsWith('text/event-stream') !== true) {
    // Piped, what is there already would go out in three packets: its headers, itself, its end.
    return write(request, response, { status: reply.status, headers, parts: [new Uint8Array(await reply.arrayBuffer())] })
  }
  response.writeHead(reply.status, headers)
  if (reply.body === null) {
    response.end()
    return
  }
  response.flushHeaders()
  await pass(streamOf(reply.body), response)
}

const mostWaiting = 16 * 1024 * 1024

/** Sends events as they come. What a client does not read waits here, where it is counted; one that lets too much wait is let go. */
async function pass(events: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
  const reader = events.getReader()
  const stop = (): void => {
    reader.cancel().catch(() => undefined)
  }
  if (response.closed) stop()
  response.once('close', stop)
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (response.writableLength > mostWaiting) throw new Error('The client does not read what it is sent.')
    response.write(next.value)
  }
  response.end()
}

/** The same stream under Node's own name for it: a program that knows the types of browsers as well has two. */
function streamOf(body: unknown): ReadableStream<Uint8Array> {
  return body as ReadableStream<Uint8Array>
}

function nodeExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const method = request.method?.toUpperCase() ?? 'GET'
  let made: Request | undefined
  return {
    method,
    url: request.url ?? '/',
    header(name) {
      const value = request.headers[name.toLowerCase()]
      return Array.isArray(value) ? value.join(', ') : value
    },
    body: (limit) => readBytes(request, limit),
    gone: (left) => whenGone(response, left),
    request() {
      made ??= webRequest(request, response, method)
      return made
    },
  }
}

function whenGone(response: ServerResponse, left: () => void): void {
  const closed = (): void => {
    if (!response.writableFinished) left()
  }
  if (response.closed) closed()
  else response.once('close', closed)
}

function webRequest(request: IncomingMessage, response: ServerResponse, method: string): Request {
  const gone = new AbortController()
  whenGone(response, () => gone.abort())
  const headers = new Headers()
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2)
    headers.append(request.rawHeaders[i] ?? '', request.rawHeaders[i + 1] ?? '')
  return new Request(addressOf(request), { method, headers, signal: gone.signal })
}

/** Where the request was sent; a client may write anything there. */
function addressOf({ url = '/', headers }: IncomingMessage): URL {
  const host = `http://${headers.host ?? 'localhost'}`
  return URL.canParse(url, host) ? new URL(url, host) : new URL('http://localhost/')
}

// Listening rather than iterating: leaving a loop early would close the socket, and a client that sent too much would not hear so.
function readBytes(request: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    if (request.readableEnded) return resolve(withinLimit(readBefore(request), limit))
    if (request.destroyed) return reject(new Error('The client went away before it had sent its request.'))
    if (Number(request.headers['content-length']) > limit) return resolve(undefined)
    let chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength
      if (size <= limit) return chunks.push(chunk)
      chunks = []
      return resolve(undefined)
    })
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
    request.once('error', reject)
    request.once('close', () => {
      if (!request.readableEnded) reject(new Error('The client went away before it had sent its request.'))
    })
  })
}

/** The body that Express or the like has read already, and put where its users find it. */
function readBefore({ body }: IncomingMessage & { body?: unknown }): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body)
  return Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''))
}

const withinLimit = (bytes: Buffer, limit: number): Buffer | undefined => (bytes.length > limit ? undefined : bytes)
