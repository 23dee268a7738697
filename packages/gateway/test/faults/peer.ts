import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createWebServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** How a server is reached: as a process, over Streamable HTTP with sessions or without (2026-07-28), or as it was before. */
export type Kind = 'stdio' | 'http' | 'listen' | 'sse'

export const kinds: readonly Kind[] = ['stdio', 'http', 'listen', 'sse']

interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly name?: string; readonly cursor?: string; readonly protocolVersion?: string }
}

type Send = (message: object) => void

/** Where something can be told to a client: the connection, and the subscription it is stamped with if there is one. */
interface Subscription {
  readonly send: Send
  readonly subscription?: string | number | undefined
}

const stamp = 'io.modelcontextprotocol/subscriptionId'
const changed = 'notifications/tools/list_changed'
const never = new Promise<never>(() => undefined)

/**
 * A server written by hand that lives in the test, whatever the transport: what it has, when it answers and what it says by itself
 * is decided here, and all that it was asked is written down.
 */
export class Peer implements AsyncDisposable {
  readonly kind: Kind
  readonly tools = new Map<string, string>()
  /** Whether it declares that it will say when its tools change. */
  declares = true
  pageSize = Number.POSITIVE_INFINITY
  /** Whether the last page leads back to the first. */
  isCircular = false
  /** Why it refuses to list its tools, if it does. */
  refusal: string | undefined
  /** Done before a list is answered; what is listed is what there is then. */
  beforeList: () => Promise<unknown> = () => Promise.resolve()
  /** Done between reading what there is and answering. */
  afterList: () => Promise<unknown> = () => Promise.resolve()
  /** What it was asked, and the tools that were called. */
  readonly asked: string[] = []
  readonly calls: string[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #ears = new Set<Subscription>()
  readonly #sessions = new Map<string, Set<ServerResponse>>()

  /** Begins to serve: on this port, or on any. */
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

  /** How a configuration names it; `port` is that of whatever stands before it. */
  config(port = this.port): object {
    if (this.kind === 'stdio')
      return { command: process.execPath, args: [fileURLToPath(new URL('pipe.mjs', import.meta.url)), String(port)] }
    const path = this.kind === 'sse' ? 'sse' : 'mcp'
    return { url: `http://127.0.0.1:${port}/${path}`, type: this.kind === 'sse' ? 'sse' : 'http' }
  }

  /** How often its tools were listed from the beginning. */
  get lists(): number {
    return this.asked.filter((method) => method === 'tools/list').length
  }

  /** How many would hear it now. */
  get ears(): number {
    return this.#ears.size
  }

  /** Says something to everybody who hears it. */
  say(method = changed): void {
    for (const { send, subscription } of this.#ears)
      send({ method, ...(subscription !== undefined && { params: { _meta: { [stamp]: subscription } } }) })
  }

  /** Adds a tool, or changes it, and says so. */
  put(name: string, description = `Does ${name}`): void {
    this.tools.set(name, description)
    this.say()
  }

  remove(name: string): void {
    this.tools.delete(name)
    this.say()
  }

  /** Knows none of its sessions any more; the connections stay. */
  forget(): void {
    for (const streams of this.#sessions.values()) for (const stream of streams) stream.end()
    this.#sessions.clear()
  }

  /** Ends every connection there is. */
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
    const ear = { send }
    const input = createInterface({ input: socket })
    input.on('error', () => undefined)
    input.on('line', (line) => {
      const message = JSON.parse(line) as Message
      if (message.method === 'notifications/initialized') this.#ears.add(ear)
      void this.#answer(message, send)
    })
    socket.on('close', () => this.#ears.delete(ear))
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
      this.#hears(response, { send: eventsTo(response) })
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
      const problem = { jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'There is no such session' } }
      response.writeHead(id === '' ? 400 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(problem))
    } else if (method === 'GET') {
      stream(response)
      session.add(response)
      this.#hears(response, { send: eventsTo(response) })
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
      this.#hears(response, { send, subscription: id })
    } else if (id === undefined) response.writeHead(202).end()
    else void this.#answer(message, answerOn(response))
  }

  #hears(response: ServerResponse, ear: Subscription): void {
    this.#ears.add(ear)
    response.on('close', () => this.#ears.delete(ear))
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
