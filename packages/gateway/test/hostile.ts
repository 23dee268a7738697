import { server } from './upstreams.ts'

/** The contents of a hostile server. */
interface Hostile {
  readonly title?: string
  readonly instructions?: string
  readonly tools?: readonly (string | object)[]
  readonly prompts?: readonly object[]
  readonly resources?: readonly object[]
  readonly templates?: readonly object[]
  /** The number of resources, and the length of each description. */
  readonly many?: { readonly count: number; readonly characters: number }
}

/** A server with arbitrary contents and messages, as a configuration entry. */
export const hostile = (is: Hostile, more: object = {}): object => ({ ...server('hostile.mjs', JSON.stringify(is)), ...more })

type Era = 'session' | 'stateless'

/** A raw response. */
interface RawReply {
  readonly status: number
  readonly text: string
}

const version = { session: '2025-11-25', stateless: '2026-07-28' } as const
const clientInfo = { name: 'raw', version: '1.0.0' }
const envelope = {
  'io.modelcontextprotocol/protocolVersion': version.stateless,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': clientInfo,
}

/** A client that sends arbitrary messages. */
export async function rawClient(url: string, { era, token }: { readonly era: Era; readonly token?: string }) {
  const common = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': version[era],
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  const post = (body: object, headers: Record<string, string>): Promise<Response> =>
    fetch(url, { method: 'POST', headers: { ...common, ...headers }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) })
  let session: Record<string, string> = {}
  let greeting = ''
  if (era === 'session') {
    const params = { protocolVersion: version.session, capabilities: {}, clientInfo }
    const answer = await post({ id: 0, method: 'initialize', params }, {})
    greeting = await answer.text()
    session = { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '' }
    await (await post({ method: 'notifications/initialized' }, session)).arrayBuffer()
  }
  let last = 0
  return {
    /** The response to `initialize`. */
    greeting,
    headers: { ...common, ...session },
    async ask(method: string, params: { readonly [key: string]: unknown } = {}): Promise<RawReply> {
      const name = params.name ?? params.uri
      const routing = { 'mcp-method': method, ...(typeof name === 'string' && { 'mcp-name': name }) }
      const body = { id: ++last, method, params: era === 'session' ? params : { ...params, _meta: envelope } }
      const answer = await post(body, era === 'session' ? session : routing)
      return { status: answer.status, text: await answer.text() }
    },
    /** The notification stream, with a promise of its end. */
    async listen(notifications: object): Promise<{ readonly received: () => string; readonly ended: Promise<void> }> {
      const body = { id: ++last, method: 'subscriptions/listen', params: { notifications, _meta: envelope } }
      const answer =
        era === 'session'
          ? await fetch(url, { headers: { ...common, ...session, accept: 'text/event-stream' } })
          : await post(body, { 'mcp-method': 'subscriptions/listen' })
      let received = ''
      const read = async (): Promise<void> => {
        const decoder = new TextDecoder()
        for await (const chunk of answer.body ?? []) received += decoder.decode(chunk, { stream: true })
      }
      return { received: () => received, ended: read().catch(() => undefined) }
    },
  }
}
