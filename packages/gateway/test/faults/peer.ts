import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createWebServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** How a server is reached: as a process, over Streamable HTTP with sessions or without (2026-07-28), or over HTTP+SSE. */
export type Kind = 'stdio' | 'http' | 'listen' | 'sse'

export const kinds: readonly Kind[] = ['stdio', 'http', 'listen', 'sse']

interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly name?: string; readonly cursor?: string; readonly protocolVersion?: string }
}

type Send = (message: object) => void

/** Where to send notifications: the connection, and the subscription id, if any. */
interface Subscription {
  readonly send: Send
  readonly subscription?: string | number | undefined
}

const stamp = 'io.modelcontextprotocol/subscriptionId'
const changed = 'notifications/tools/list_changed'
const never = new Promise<never>(() => undefined)

/**
 * A handwritten server in the test process, for any transport: the test controls its tools, the time of its responses and its
 * notifications, and all requests are recorded.
 */
export class Peer implements AsyncDisposable {
  readonly kind: Kind
  readonly tools = new Map<string, string>()
  /** Whether it declares `listChanged`. */
  declares = true
  pageSize = Number.POSITIVE_INFINITY
  /** Whether the last page has a cursor to the first. */
  isCircular = false
  /** The error of `tools/list`, if it fails. */
  refusal: string | undefined
  /** Runs before a list is read. */
  beforeList: () => Promise<unknown> = () => Promise.resolve()
  /** Runs after a list was read and before the response is sent. */
  afterList: () => Promise<unknown> = () => Promise.resolve()
  /** The received methods, and the called tools. */
  readonly asked: string[] = []
  readonly calls: string[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #subscribers = new Set<Subscription>()
  readonly #sessions = new Map<string, Set<ServerResponse>>()

  /** Starts serving on this port, or on a free one. */
  static async open(kind: Kind, tools: readonly string[] = ['one'], port = 0): Promise<Peer> {
    const peer = new Peer(kind)
    for (const name of tools) peer.tools.set(name, `Does ${name}`)
    peer.#server.listen(port, '127.0.0.1')
    await once(peer.#server, 'listening')
    return peer
  }

  private constructor(kind: Kind) {
    this.kind = kind
    this.#server =
      kind === 'stdio'
        ? createServer((socket) => this.#lines(socket))
        : createWebServer((request, response) => void this.#web(request, response))
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket))
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Its configuration entry; `port` is that of a proxy in front of it. */
  config(port = this.port): object {
    if (this.kind === 'stdio')
      return { command: process.execPath, args: [fileURLToPath(new URL('pipe.mjs', import.meta.url)), String(port)] }
    const path = this.kind === 'sse' ? 'sse' : 'mcp'
    return { url: `http://127.0.0.1:${port}/${path}`, type: this.kind === 'sse' ? 'sse' : 'http' }
  }

  /** The number of `tools/list` requests, without those for further pages. */
  get lists(): number {
    return this.asked.filter((method) => method === 'tools/list').length
  }

  /** The number of current subscribers. */
  get subscribers(): number {
    return this.#subscribers.size
  }

  /** Sends a notification to all subscribers. */
  say(method = changed): void {
    for (const { send, subscription } of this.#subscribers)
      send({ method, ...(subscription !== undefined && { params: { _meta: { [stamp]: subscription } } }) })
  }

  /** Adds or changes a tool, and notifies. */
  put(name: string, description = `Does ${name}`): void {
    this.tools.set(name, description)
    this.say()
  }

  remove(name: string): void {
    this.tools.delete(name)
    this.say()
  }

  /** Forgets all sessions; the connections stay open. */
  forget(): void {
    for (const streams of this.#sessions.values()) for (const stream of streams) stream.end()
    this.#sessions.clear()
  }

  /** Closes every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.cut()
    await closed
  }

  #lines(socket: Socket): void {
    const send: Send = (message) => void socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const subscriber = { send }
    const input = createInterface({ input: socket })
    input.on('error', () => undefined)
    input.on('line', (line) => {
      const message = JSON.parse(line) as Message
      if (message.method === 'notifications/initialized') this.#subscribers.add(subscriber)
      void this.#answer(message, send)
    })
    socket.on('close', () => this.#subscribers.delete(subscriber))
  }

  async #web(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request).catch(() => undefined)
    if (text === undefined) return
    const message = (text === '' ? {} : JSON.parse(text)) as Message
    response.on('error', () => undefined)
    if (this.kind === 'sse') this.#old(request, response, message)
    else if (this.kind === 'http') this.#withSession(request, response, message)
    else this.#withoutSession(response, message)
  }

  #old({ method, url = '/' }: IncomingMessage, response: ServerResponse, message: Message): void {
    if (method === 'GET') {
      const id = randomUUID()
      const streams = new Set([response])
      this.#sessions.set(id, streams)
      stream(response)
      response.write(`event: endpoint\ndata: /messages?session=${id}\n\n`)
      this.#subscribe(response, { send: eventsTo(response) })
      return
    }
    const session = this.#sessions.get(new URL(url, 'http://localhost').searchParams.get('session') ?? '')
    if (method !== 'POST' || session === undefined) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(202).end()
    for (const events of session) void this.#answer(message, eventsTo(events))
  }

  #withSession({ method, headers }: IncomingMessage, response: ServerResponse, message: Message): void {
    const id = String(headers['mcp-session-id'] ?? '')
    const session = this.#sessions.get(id)
    if (message.method === 'initialize') {
      const fresh = randomUUID()
      this.#sessions.set(fresh, new Set())
      response.setHeader('mcp-session-id', fresh)
      void this.#answer(message, answerOn(response))
    } else if (session === undefined) {
      const problem = { jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'Unknown session' } }
      response.writeHead(id === '' ? 400 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(problem))
    } else if (method === 'GET') {
      stream(response)
      session.add(response)
      this.#subscribe(response, { send: eventsTo(response) })
    } else if (method === 'DELETE') {
      this.#sessions.delete(id)
      response.writeHead(200).end()
    } else if (message.id === undefined) {
      this.#notice(message)
      response.writeHead(202).end()
    } else void this.#answer(message, answerOn(response))
  }

  #withoutSession(response: ServerResponse, message: Message): void {
    const { id, method } = message
    if (method === 'subscriptions/listen') {
      this.#notice(message)
      stream(response)
      const send = eventsTo(response)
      const _meta = { [stamp]: id }
      send({ method: 'notifications/subscriptions/acknowledged', params: { _meta, notifications: { toolsListChanged: true } } })
      this.#subscribe(response, { send, subscription: id })
    } else if (id === undefined) response.writeHead(202).end()
    else void this.#answer(message, answerOn(response))
  }

  #subscribe(response: ServerResponse, subscriber: Subscription): void {
    this.#subscribers.add(subscriber)
    response.on('close', () => this.#subscribers.delete(subscriber))
  }

  #notice({ method }: Message): void {
    if (method !== undefined) this.asked.push(method)
  }

  async #answer(message: Message, send: Send): Promise<void> {
    const { id, method } = message
    this.#notice(method === 'tools/list' && message.params?.cursor !== undefined ? { method: 'a further page' } : message)
    if (id === undefined || method === undefined) return
    if (method === 'tools/list' && this.refusal !== undefined) {
      send({ id, error: { code: -32_603, message: this.refusal } })
      return
    }
    const result = await this.#result(method, message.params ?? {})
    if (result !== undefined) send({ id, result: this.kind === 'listen' ? { resultType: 'complete', ...result } : result })
    else send({ id, error: { code: -32_601, message: 'Method not found' } })
  }

  async #result(method: string, params: NonNullable<Message['params']>): Promise<object | undefined> {
    const capabilities = { tools: this.declares ? { listChanged: true } : {} }
    const serverInfo = { name: 'peer', version: '1.0.0' }
    const caching = { ttlMs: 0, cacheScope: 'private' }
    if (method === 'initialize' && this.kind !== 'listen')
      return { protocolVersion: params.protocolVersion, capabilities, serverInfo }
    if (method === 'server/discover' && this.kind === 'listen')
      return { supportedVersions: ['2026-07-28'], capabilities, serverInfo, ...caching }
    if (method === 'ping') return {}
    if (method === 'tools/list') return { ...(await this.#page(params.cursor)), ...(this.kind === 'listen' && caching) }
    if (method === 'tools/call') return this.#called(params.name ?? '')
    return undefined
  }

  async #page(cursor: string | undefined): Promise<object> {
    await this.beforeList()
    const all = [...this.tools].map(([name, description]) => ({ name, description, inputSchema: { type: 'object' } }))
    const from = cursor === undefined ? 0 : Number(cursor)
    const to = from + this.pageSize
    const next = to < all.length ? to : this.isCircular ? 0 : undefined
    await this.afterList()
    return { tools: all.slice(from, to), ...(next !== undefined && { nextCursor: String(next) }) }
  }

  async #called(name: string): Promise<object> {
    this.calls.push(name)
    if (name === 'wait') return never
    return { content: [{ type: 'text', text: `${name} was called` }] }
  }
}

const stream = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.flushHeaders()
}

const eventsTo =
  (response: ServerResponse): Send =>
  (message) =>
    void response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)

const answerOn =
  (response: ServerResponse): Send =>
  (message) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', ...message }))

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
