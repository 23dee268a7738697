import type { Attack, Sent } from './attack.ts'
import { exchange, type Headers, type Message, type Piece, post, type RawAnswer } from './raw.ts'

const revisions = { session: '2025-11-25', stateless: '2026-07-28' } as const
const clientInfo = { name: 'attacker', version: '1.0.0' }

const envelope = {
  'io.modelcontextprotocol/protocolVersion': revisions.stateless,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
}

export type Sender = Attack['as']

let lastId = 1_000

/** Returns a unique request id. */
export const nextId = (): number => ++lastId

/** Returns a request in the sender's era. */
export function request(as: Sender, method: string, params?: Record<string, unknown>, id: string | number = nextId()): string {
  if (as !== 'stateless') return JSON.stringify({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) })
  const _meta = { ...envelope, ...(params?._meta as object | undefined) }
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })
}

export const notification = (method: string, params?: object): string =>
  JSON.stringify({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) })

export const hello = (): string =>
  request('session', 'initialize', { protocolVersion: revisions.session, capabilities: {}, clientInfo })

/** Returns the headers of 2026-07-28 that mirror the request. */
export function routing(method: string, params: { readonly name?: unknown } = {}): Headers {
  const { name } = params
  return {
    'mcp-protocol-version': revisions.stateless,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': isPlain(name) ? name : `=?base64?${Buffer.from(name).toString('base64')}?=` }),
  }
}

const isPlain = (text: string): boolean => /^[\x21-\x7e]+$/u.test(text)

/** A client with a session over HTTP. */
export interface HttpSession {
  readonly id: string
  readonly headers: Headers
}

/** Opens a session. */
export async function openSession(port: number, headers: Headers = {}, query = ''): Promise<HttpSession> {
  const greeting = await exchange(port, post(hello(), headers, `/mcp${query}`))
  const id = greeting?.headers['mcp-session-id']
  if (id === undefined) throw new Error(`No session: ${JSON.stringify(greeting)}`)
  const own = { ...headers, 'mcp-session-id': id, 'mcp-protocol-version': revisions.session }
  await exchange(port, post(notification('notifications/initialized'), own))
  return { id, headers: own }
}

/** Sends a request in a session. */
export async function ask(
  port: number,
  session: HttpSession,
  method: string,
  params?: Record<string, unknown>,
): Promise<RawAnswer | undefined> {
  return exchange(port, post(request('session', method, params), session.headers))
}

/** Calls a tool as a 2026-07-28 client. */
export async function callTool(
  port: number,
  name: string,
  args: object = {},
  headers: Headers = {},
): Promise<RawAnswer | undefined> {
  const params = { name, arguments: args }
  return exchange(port, post(request('stateless', 'tools/call', params), { ...routing('tools/call', params), ...headers }))
}

/** Returns the bytes of this attack over HTTP. */
export function overHttp(as: Sender, send: Sent, session: HttpSession): readonly Piece[] {
  if ('bytes' in send) return send.bytes()
  const { headers = {}, query } = send
  const path = query === undefined ? '/mcp' : `/mcp?${query}`
  const own = as === 'session' ? session.headers : {}
  if ('body' in send) return post(send.body(), { ...own, ...headers }, path)
  const { method, params } = send
  const routed = as === 'stateless' ? routing(method, params) : own
  return post(request(as, method, params), { ...routed, ...headers }, path)
}

/** Returns the line of this attack over stdio. */
export function overStdio(as: Sender, send: Sent): Buffer {
  if ('bytes' in send) throw new Error('These bytes are for a socket.')
  const text = 'body' in send ? send.body() : request(as, send.method, send.params)
  return Buffer.concat([Buffer.from(text), Buffer.from('\n')])
}

/** Returns the text of a result. */
export function textOf(message: Message | undefined): string {
  const content = message?.result?.content as readonly { readonly text?: string }[] | undefined
  return content?.map(({ text = '' }) => text).join('\n') ?? ''
}
