// HTTP requests from clients of the two protocol eras.

export type Era = 'session' | 'stateless'
export type Method = 'tools/list' | 'tools/call'

/** A reusable POST request. */
export interface Message {
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body: Buffer<ArrayBuffer>
}

const revisions: { readonly [E in Era]: string } = { session: '2025-11-25', stateless: '2026-07-28' }
const client = { name: 'bench', version: '1.0.0' }

export interface ToolCall {
  readonly name: string
  readonly arguments: { readonly [name: string]: unknown }
}

/** Returns a request for this method; `call` is the tool call. */
export function requestOf(
  era: Era,
  method: Method,
  { path, session, call }: { path: string; session?: string; call?: ToolCall },
): Message {
  const params = method === 'tools/list' ? {} : { ...call }
  if (era === 'session') {
    return message(
      path,
      { jsonrpc: '2.0', id: 1, method, params },
      { 'mcp-protocol-version': revisions.session, ...(session !== undefined && { 'mcp-session-id': session }) },
    )
  }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revisions.stateless,
    'io.modelcontextprotocol/clientInfo': client,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return message(
    path,
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    { 'mcp-protocol-version': revisions.stateless, 'mcp-method': method, ...(call !== undefined && { 'mcp-name': call.name }) },
  )
}

/** The two messages of the session handshake; the second has the session id. */
export function initializeOf(path: string): { readonly first: Message; readonly second: (session: string) => Message } {
  const params = { protocolVersion: revisions.session, capabilities: {}, clientInfo: client }
  return {
    first: message(path, { jsonrpc: '2.0', id: 0, method: 'initialize', params }),
    second: (session) =>
      message(
        path,
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { 'mcp-protocol-version': revisions.session, 'mcp-session-id': session },
      ),
  }
}

/** Returns the JSON-RPC result of a response, which is JSON or an event stream. */
export function resultOf(text: string): Record<string, unknown> {
  const json = text.startsWith('{')
    ? text
    : (text
        .split('\n')
        .find((line) => line.startsWith('data: {'))
        ?.slice('data: '.length) ?? '{}')
  const { result } = JSON.parse(json) as { result?: Record<string, unknown> }
  if (result === undefined) throw new Error(`No result in the response: ${text.slice(0, 300)}`)
  return result
}

function message(path: string, body: object, headers: Message['headers'] = {}): Message {
  const bytes = Buffer.from(JSON.stringify(body))
  const common = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': String(bytes.length),
  }
  return { path, headers: { ...common, ...headers }, body: bytes }
}
