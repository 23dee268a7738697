import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Failure } from '@unfold-mcp/core'
import { errorReply } from './errors.ts'
import { type Exchange, isText, type Reply } from './exchange.ts'
import { createHandler, type Handler, type HandlerOptions } from './handler.ts'

export interface ListenOptions extends HandlerOptions {
  /** 0 lets the system choose. */
  readonly port?: number
  /** The address to bind; loopback by default. */
  readonly host?: string
  /** Where clients reach it. */
  readonly path?: string
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
export async function listen(served: object, options: ListenOptions = {}): Promise<Listening> {
  const { port = 7420, host = '127.0.0.1', path = '/mcp' } = options
  const handler = createHandler(served, options)
  const server = createServer((request, response) => {
    void respond(handler, path, request, response)
  })
  // A client that sends its headers or body byte by byte holds a socket no longer than this.
  server.headersTimeout = 20_000
  server.requestTimeout = 120_000
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
    void respond(handler, undefined, request, response)
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

async function respond(
  handler: Handler,
  path: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const at = request.url ?? '/'
    if (path !== undefined && at.split('?', 1)[0] !== path) {
      write(response, errorReply(404, { code: -32000, message: `There is nothing here. MCP clients connect to ${path}.` }))
      return
    }
    const reply = await handler.answer(nodeExchange(request, response))
    if (isText(reply)) write(response, reply)
    else await send(response, reply)
  } catch {
    // The client went away, or the answer broke off; there is nobody left to tell.
    response.destroy()
  } finally {
    // What is left of a body that was refused would otherwise keep the connection from being used again.
    request.resume()
  }
}

function write(response: ServerResponse, { status, headers, text }: Extract<Reply, { text: string }>): void {
  if (response.destroyed) return
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

async function send(response: ServerResponse, reply: Response): Promise<void> {
  response.writeHead(reply.status, Object.fromEntries(reply.headers))
  if (reply.body === null) {
    response.end()
    return
  }
  response.flushHeaders()
  await pipeline(Readable.fromWeb(reply.body as Parameters<typeof Readable.fromWeb>[0]), response)
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
    body: (limit) => readText(request, limit),
    request() {
      made ??= webRequest(request, response, method)
      return made
    },
  }
}

function webRequest(request: IncomingMessage, response: ServerResponse, method: string): Request {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  const headers = new Headers()
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2)
    headers.append(request.rawHeaders[i] ?? '', request.rawHeaders[i + 1] ?? '')
  return new Request(new URL(request.url ?? '/', `http://${request.headers.host ?? 'localhost'}`), {
    method,
    headers,
    signal: gone.signal,
  })
}

async function readText(request: IncomingMessage, limit: number): Promise<string | undefined> {
  if (Number(request.headers['content-length']) > limit) return undefined
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
