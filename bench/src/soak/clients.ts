import { once } from 'node:events'
import { Agent, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { clientInfo } from '../gateway/wires/wire.ts'

const stateless = '2026-07-28'

const envelope = {
  'io.modelcontextprotocol/protocolVersion': stateless,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
}

const base = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

// The connections of all clients.
const agent = new Agent({ keepAlive: true })

/** Closes all connections. They would count as open file descriptors of the gateway. */
export const closeConnections = (): void => agent.destroy()

/** Sends a request and returns the text of the response. */
type Ask = (method: string, params?: object) => Promise<string>

interface Call {
  readonly name: string
  readonly arguments?: object
}

/** A client of the session era. */
export interface SessionClient {
  readonly ask: Ask
  call(name: string, given?: object): Promise<string>
  /** Ends the session with DELETE. */
  end(): Promise<void>
}

/** Opens a session, with or without its stream for server-initiated messages. */
export async function openSession(url: string, listens: boolean): Promise<SessionClient> {
  const headers: Record<string, string> = { ...base, 'mcp-protocol-version': '2025-11-25' }
  const ended = new AbortController()
  let id = 0
  const post = (message: object): Promise<Reply> =>
    send(url, { method: 'POST', headers }, JSON.stringify({ jsonrpc: '2.0', ...message }))
  const ask: Ask = async (method, params = {}) => (await post({ id: ++id, method, params })).body
  const initialized = await post({
    id: ++id,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  headers['mcp-session-id'] = String(initialized.headers['mcp-session-id'])
  await post({ method: 'notifications/initialized' })
  if (listens) void drain(fetch(url, { headers, signal: ended.signal }))
  return {
    ask,
    call: (name, given = {}) => ask('tools/call', { name, arguments: given } satisfies Call),
    async end() {
      ended.abort()
      await send(url, { method: 'DELETE', headers })
    },
  }
}

/** Calls a tool without a session. */
export async function callStateless(url: string, name: string, given: object = {}): Promise<string> {
  const { headers, body } = statelessRequest('tools/call', name, { name, arguments: given })
  return (await send(url, { method: 'POST', headers }, body)).body
}

/** Requests a large resource and never reads the response. Resolves with a function that drops the connection. */
export function stall(url: string, uri: string): Promise<() => void> {
  const { headers, body } = statelessRequest('resources/read', uri, { uri })
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', headers, agent: false })
    const drop = (): void => void sent.destroy()
    sent.on('error', () => resolve(drop))
    sent.on('response', (response) => {
      response.pause()
      resolve(drop)
    })
    sent.end(body)
  })
}

function statelessRequest(
  method: string,
  name: string,
  params: object,
): { readonly headers: Record<string, string>; readonly body: string } {
  return {
    headers: { ...base, 'mcp-protocol-version': stateless, 'mcp-method': method, 'mcp-name': name },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope } }),
  }
}

interface Reply {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

async function send(url: string, options: RequestOptions, content = ''): Promise<Reply> {
  const sent = request(url, { ...options, agent, signal: AbortSignal.timeout(120_000) })
  sent.end(content)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const body = await text(response)
  const { headers, statusCode = 0 } = response
  if (statusCode >= 500) throw new Error(`${statusCode}: ${body.slice(0, 300)}`)
  return { headers, body }
}

async function drain(stream: Promise<Response>): Promise<void> {
  try {
    for await (const _ of (await stream).body ?? []);
  } catch {
    // The session ended.
  }
}
