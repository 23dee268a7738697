import { request } from 'node:http'
import { clientInfo } from '../gateway/wires/wire.ts'

const stateless = '2026-07-28'

const envelope = {
  'io.modelcontextprotocol/protocolVersion': stateless,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
}

const base = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

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
  const post = async (message: object): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    return fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(120_000) })
  }
  const ask: Ask = async (method, params = {}) => textOf(await post({ id: ++id, method, params }))
  const initialized = await post({
    id: ++id,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  await textOf(initialized)
  headers['mcp-session-id'] = initialized.headers.get('mcp-session-id') ?? ''
  await (await post({ method: 'notifications/initialized' })).text()
  if (listens) void drain(fetch(url, { headers, signal: ended.signal }))
  return {
    ask,
    call: (name, given = {}) => ask('tools/call', { name, arguments: given } satisfies Call),
    async end() {
      ended.abort()
      await (await fetch(url, { method: 'DELETE', headers })).text()
    },
  }
}

/** Calls a tool without a session. */
export async function callStateless(url: string, name: string, given: object = {}): Promise<string> {
  return textOf(await fetch(url, { method: 'POST', ...statelessRequest('tools/call', name, { name, arguments: given }) }))
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

async function textOf(response: Response): Promise<string> {
  const text = await response.text()
  if (response.status >= 500) throw new Error(`${response.status}: ${text.slice(0, 300)}`)
  return text
}

async function drain(stream: Promise<Response>): Promise<void> {
  try {
    for await (const _ of (await stream).body ?? []);
  } catch {
    // The session ended.
  }
}
