import { server } from './upstreams.ts'

/** What a hostile server has. */
interface Hostile {
  readonly title?: string
  readonly instructions?: string
  readonly tools?: readonly (string | object)[]
  readonly prompts?: readonly object[]
  readonly resources?: readonly object[]
  readonly templates?: readonly object[]
  /** So many resources, each described with so many characters. */
  readonly many?: { readonly count: number; readonly characters: number }
}

/** A server that has and says whatever it is told to, as the configuration names it. */
export const hostile = (is: Hostile, more: object = {}): object => ({ ...server('hostile.mjs', JSON.stringify(is)), ...more })

type Era = 'session' | 'stateless'

/** An answer as it came. */
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

/** A client that sends what it is told to, whether that makes sense or not. */
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
    /** What `initialize` was answered with. */
    greeting,
    headers: { ...common, ...session },
    async ask(method: string, params: { readonly [key: string]: unknown } = {}): Promise<RawReply> {
      const name = params.name ?? params.uri
      const routing = { 'mcp-method': method, ...(typeof name === 'string' && { 'mcp-name': name }) }
      const body = { id: ++last, method, params: era === 'session' ? params : { ...params, _meta: envelope } }
      const answer = await post(body, era === 'session' ? session : routing)
      return { status: answer.status, text: await answer.text() }
    },
    /** The stream on which it hears of changes, with a promise of its end. */
    async listen(notifications: object): Promise<{ readonly heard: () => string; readonly ended: Promise<void> }> {
      const body = { id: ++last, method: 'subscriptions/listen', params: { notifications, _meta: envelope } }
      const answer =
        era === 'session'
          ? await fetch(url, { headers: { ...common, ...session, accept: 'text/event-stream' } })
          : await post(body, { 'mcp-method': 'subscriptions/listen' })
      let heard = ''
      const read = async (): Promise<void> => {
        const decoder = new TextDecoder()
        for await (const chunk of answer.body ?? []) heard += decoder.decode(chunk, { stream: true })
      }
      return { heard: () => heard, ended: read().catch(() => undefined) }
    },
  }
}
