import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export type Era = 'session' | 'stateless'

export interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: {
    readonly name?: string
    readonly protocolVersion?: string
    readonly _meta?: { readonly progressToken?: number }
  }
}

/** One request and its response. */
export interface Turn {
  readonly message: Message
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Result of a tool that returns this text, with the id of the request. */
  readonly result: (text: string) => object
}

export interface Script {
  readonly era?: Era
  readonly port?: number
  /** Responds to `tools/call`. Default: the name of the tool, as JSON. */
  readonly call?: (turn: Turn) => void
  /** Responds to GET. Default: 405. */
  readonly get?: (request: IncomingMessage, response: ServerResponse) => void
  /** Responds to any other request instead of the server; returns whether it did. */
  readonly intercept?: (turn: Turn) => boolean
  /** Added to the result of `tools/list`. */
  readonly list?: object
}

export const events = { 'content-type': 'text/event-stream' }

export const json = (response: ServerResponse, message: object, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', ...message }))

/** Text of one server-sent event. */
export const event = (message: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`

/** HTTP server of one era with the tool `one`, whose responses are scripted byte by byte. */
export async function scripted(script: Script = {}) {
  const sockets = new Set<Socket>()
  const asked: string[] = []
  let accepted = 0
  let { era = 'session' } = script
  const sessions = new Set<string>()
  const answer = (turn: Turn): void => {
    const { message, request, response } = turn
    const { id, method = '' } = message
    if (script.intercept?.(turn) === true) return
    const isKnown = sessions.has(String(request.headers['mcp-session-id']))
    if (era === 'session' && method === 'initialize') {
      const session = `session-${sessions.size}`
      sessions.add(session)
      response.setHeader('mcp-session-id', session)
      const { protocolVersion } = message.params ?? {}
      const capabilities = { tools: { listChanged: true } }
      json(response, { id, result: { protocolVersion, capabilities, serverInfo: { name: 'scripted', version: '1.0.0' } } })
    } else if (era === 'session' && !isKnown) {
      json(response, { id: null, error: { code: -32_000, message: 'Bad Request: No valid session ID provided' } }, 400)
    } else if (era === 'stateless' && request.headers['mcp-protocol-version'] !== '2026-07-28') {
      json(response, { id: id ?? null, error: { code: -32_022, message: 'Unsupported protocol version' } }, 400)
    } else if (id === undefined) response.writeHead(202).end()
    else if (method === 'tools/call' && script.call !== undefined) script.call(turn)
    else json(response, { id, ...resultOf(method, message) })
  }
  const resultOf = (method: string, { params = {} }: Message): object => {
    const complete = era === 'stateless' ? { resultType: 'complete' } : {}
    const caching = { ttlMs: 0, cacheScope: 'private' }
    if (method === 'server/discover' && era === 'stateless')
      return { result: { ...complete, ...caching, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } }
    if (method === 'ping' && era === 'session') return { result: {} }
    if (method === 'tools/list')
      return { result: { ...complete, ...caching, tools: [{ name: 'one', inputSchema: { type: 'object' } }], ...script.list } }
    if (method === 'tools/call') return { result: { ...complete, content: [{ type: 'text', text: `${params.name} in ${era}` }] } }
    return { error: { code: -32_601, message: 'Method not found' } }
  }
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await body(request)
    const message = (text === '' ? {} : JSON.parse(text)) as Message
    asked.push(message.method ?? `${request.method}`)
    const result = (value: string): object => ({
      id: message.id,
      result: { ...(era === 'stateless' && { resultType: 'complete' }), content: [{ type: 'text', text: value }] },
    })
    if (request.method === 'POST') answer({ message, request, response, result })
    else if (request.method === 'GET' && script.get !== undefined) script.get(request, response)
    else response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
  }
  const http = createServer((request, response) => {
    response.on('error', () => undefined)
    handle(request, response).catch(() => undefined)
  })
  http.on('connection', (socket) => {
    accepted++
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  http.listen(script.port ?? 0, '127.0.0.1')
  await once(http, 'listening')
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    /** Methods of all requests; `GET` and `DELETE` for those without a message. */
    asked,
    count: (method: string): number => asked.filter((each) => each === method).length,
    /** Connections that are open. */
    get open() {
      return sockets.size
    },
    /** Connections so far. */
    get accepted() {
      return accepted
    },
    /** Returns in another era, without any session. */
    restart(next: Era): void {
      era = next
      sessions.clear()
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
}

async function body(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
