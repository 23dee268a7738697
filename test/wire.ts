import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { type HandlerOptions, listen, type Principal, serveStdio } from '@unfold-mcp/server'
import type { TestTransport } from '@unfold-mcp/server/testing'

/** A received message: raw text and parsed content. */
interface Answer {
  readonly text: string
  readonly status: number
  readonly result: Record<string, unknown>
  readonly error: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> } | undefined
}

/** A client that exposes every byte. */
export interface Wire extends AsyncDisposable {
  /** The `initialize` result of a session, or the `server/discover` result. */
  readonly greeting: Answer
  /** Sends a request, always with the same `id`, so that equal replies have equal bytes. */
  ask(method: string, params?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>
  /** Sends a request with arbitrary `params`, or none. */
  askExactly(method: string, params: unknown): Promise<Answer>
  /** Methods of the received notifications. */
  readonly notifications: readonly string[]
  /** Opens the stream for server-initiated messages of a session. */
  listen(): Promise<void>
  /** Drops the connection without a close, even during a request. */
  vanish(): void
  /** Ends the session. Over HTTP it sends DELETE, because a dropped connection does not end a session. */
  leave(): Promise<void>
  /** Waits until all messages in transit have arrived. */
  quiet(): Promise<void>
}

export interface WireOptions extends HandlerOptions {
  readonly principal?: Principal
  /** View in the URL of the client, such as `groups=files`. */
  readonly view?: string
  /** `false` leaves the session handshake unfinished. */
  readonly initialised?: boolean
  /** `false` for a session that opens its stream later, with `listen`. */
  readonly listens?: boolean
}

/** A server that can be reached over pipes and over HTTP. */
export interface Endpoint {
  pipe(transport: Transport): { close(): Promise<void> }
  http(): Promise<{ readonly url: string; fetch(url: string, init?: RequestInit): Promise<Response>; close(): Promise<void> }>
}

const revisions = { session: '2025-11-25', stateless: '2026-07-28' } as const
const clientInfo = { name: 'wire', version: '1.0.0' }
const capabilities = { elicitation: { form: {} } }

const envelope = {
  'io.modelcontextprotocol/protocolVersion': revisions.stateless,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': capabilities,
}

type Exchange = (message: Record<string, unknown>, headers?: Record<string, string>) => Promise<Answer>

interface Line extends AsyncDisposable {
  readonly notifications: string[]
  exchange: Exchange
  notify(message: Record<string, unknown>): Promise<void>
  /** Receives server-initiated messages. */
  readonly listen: () => Promise<void>
  readonly vanish: () => void
  readonly leave: () => Promise<void>
}

/** Serves a toolbox to a client that exposes every byte. */
export function openWire(served: object, testTransport: TestTransport, options: WireOptions = {}): Promise<Wire> {
  const { principal, view, initialised: _i, listens: _l, ...rest } = options
  const seen = { ...(principal !== undefined && { principal }), ...(view !== undefined && { view }) }
  const endpoint: Endpoint = {
    pipe: (transport) => serveStdio(served, { transport, ...seen }),
    async http() {
      const listening = await listen(served, { authenticate: () => principal, ...rest, port: 0 })
      return { url: `${listening.url}?${view ?? ''}`, fetch: (url, init) => fetch(url, init), close: () => listening.close() }
    },
  }
  return wireTo(endpoint, testTransport, options)
}

/** Connects a client that exposes every byte. */
export async function wireTo(
  endpoint: Endpoint,
  { transport, era }: TestTransport,
  options: Pick<WireOptions, 'initialised' | 'listens'> = {},
): Promise<Wire> {
  const line = await (transport === 'stdio' ? pipe(endpoint) : socket(endpoint, era))
  const send = (method: string, params: unknown, headers?: Record<string, string>): Promise<Answer> =>
    line.exchange({ jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params }) }, headers)
  const ask: Wire['ask'] = (method, params = {}, headers) =>
    send(method, era === 'stateless' ? { ...params, _meta: { ...envelope, ...(params._meta as object) } } : params, headers)
  const greeting =
    era === 'stateless'
      ? await ask('server/discover')
      : await ask('initialize', { protocolVersion: revisions.session, capabilities, clientInfo })
  if (era === 'session') {
    if (options.initialised !== false) await line.notify({ jsonrpc: '2.0', method: 'notifications/initialized' })
    if (options.listens !== false) await line.listen()
  }
  return {
    greeting,
    ask,
    askExactly: (method, params) => send(method, params),
    notifications: line.notifications,
    listen: line.listen,
    vanish: line.vanish,
    leave: line.leave,
    quiet: () => new Promise((resolve) => setTimeout(resolve, 60)),
    [Symbol.asyncDispose]: () => line[Symbol.asyncDispose](),
  }
}

async function pipe(endpoint: Endpoint): Promise<Line> {
  const toServer = new PassThrough()
  const toClient = new PassThrough()
  const server = endpoint.pipe(new StdioServerTransport(toServer, toClient))
  const notifications: string[] = []
  const waiting: ((answer: Answer) => void)[] = []
  createInterface({ input: toClient }).on('line', (text) => {
    const message = JSON.parse(text) as Message
    if (message.method === undefined) waiting.shift()?.(answerOf(text, 200, message))
    else notifications.push(message.method)
  })
  return {
    notifications,
    exchange: (message) =>
      new Promise((resolve) => {
        waiting.push(resolve)
        toServer.write(`${JSON.stringify(message)}\n`)
      }),
    async notify(message) {
      toServer.write(`${JSON.stringify(message)}\n`)
    },
    listen: async () => undefined,
    vanish: () => toServer.end(),
    leave: async () => void toServer.end(),
    [Symbol.asyncDispose]: () => server.close(),
  }
}

async function socket(endpoint: Endpoint, era: TestTransport['era']): Promise<Line> {
  const server = await endpoint.http()
  const notifications: string[] = []
  const always: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': revisions[era],
  }
  const gone = new AbortController()
  const { signal } = gone
  const post = async (message: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Answer> => {
    const { name } = (message.params ?? {}) as { name?: unknown }
    const routing = { 'mcp-method': String(message.method), ...(typeof name === 'string' && { 'mcp-name': name }) }
    const response = await server.fetch(server.url, {
      method: 'POST',
      headers: { ...always, ...(era === 'stateless' && routing), ...headers },
      body: JSON.stringify(message),
      signal,
    })
    const session = response.headers.get('mcp-session-id')
    if (session !== null) always['mcp-session-id'] = session
    const text = await response.text()
    const messages = messagesOf(text)
    notifications.push(...messages.flatMap(({ method }) => (method === undefined ? [] : [method])))
    return answerOf(text, response.status, messages.find(({ method }) => method === undefined) ?? {})
  }
  return {
    notifications,
    exchange: post,
    async notify(message) {
      await post(message)
    },
    async listen() {
      const headers = { ...always, accept: 'text/event-stream' }
      void follow(await server.fetch(server.url, { headers, signal }), notifications)
    },
    vanish: () => gone.abort(),
    async leave() {
      gone.abort()
      if (era === 'session') await server.fetch(server.url, { method: 'DELETE', headers: always })
    },
    async [Symbol.asyncDispose]() {
      gone.abort()
      await server.close()
    },
  }
}

async function follow(response: Response, notifications: string[]): Promise<void> {
  const decoder = new TextDecoder()
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      notifications.push(...messagesOf(decoder.decode(chunk)).flatMap(({ method }) => (method === undefined ? [] : [method])))
  } catch {
    // The stream ends with the connection.
  }
}

interface Message {
  readonly method?: string
  readonly result?: unknown
  readonly error?: unknown
}

/** Parses a body, which is a single message or an event stream. */
function messagesOf(text: string): readonly Message[] {
  if (text === '') return []
  if (text.startsWith('{')) return [JSON.parse(text) as Message]
  return [...text.matchAll(/^data: (\{.*\})$/gmu)].map(([, json]) => JSON.parse(json ?? '{}') as Message)
}

const answerOf = (text: string, status: number, message: Message): Answer => ({
  text,
  status,
  result: (message.result ?? {}) as Answer['result'],
  error: message.error as Answer['error'],
})
