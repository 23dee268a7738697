import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type ListenOptions, listen } from '@unfold-mcp/server'

/** Both protocol eras: with a session, and stateless (2026-07-28). */
export const eras = ['session', 'stateless'] as const

export interface Connected extends AsyncDisposable {
  readonly client: Client
  toolNames(): Promise<string[]>
  /** Returns the result of a tool; throws its text if it fails. */
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>
  /** Returns the structured content of a successful result. */
  data<T = Record<string, unknown>>(name: string, args?: Record<string, unknown>): Promise<T>
  /** Returns the text of a successful result. */
  text(name: string, args?: Record<string, unknown>): Promise<string>
  /** Number of tools/list_changed notifications. */
  readonly notices: number
}

/** Starts a server and connects a client over HTTP. */
export async function connected(
  served: object,
  {
    era = 'session',
    token,
    view,
    ...options
  }: ListenOptions & { era?: (typeof eras)[number]; token?: string | undefined; view?: string } = {},
): Promise<Connected> {
  const listening = await listen(served, { port: 0, ...options })
  const joined = await joinedTo(view === undefined ? listening.url : `${listening.url}?${view}`, { era, token })
  return {
    ...joined,
    get notices() {
      return joined.notices
    },
    async [Symbol.asyncDispose]() {
      await joined[Symbol.asyncDispose]()
      await listening.close()
    },
  }
}

/** Connects another client to a running server. */
export async function joinedTo(
  url: string,
  { era, token }: { era: (typeof eras)[number]; token?: string | undefined },
): Promise<Connected> {
  let notices = 0
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      versionNegotiation: { mode: era === 'session' ? 'legacy' : 'auto' },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void notices++ } },
    },
  )
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  const call: Connected['call'] = async (name, args = {}) => {
    const result = await client.callTool({ name, arguments: args })
    if (result.isError === true) throw new Error(textOf(result))
    return result
  }
  return {
    client,
    toolNames: async () => (await client.listTools()).tools.map((tool) => tool.name),
    call,
    data: async <T>(name: string, args?: Record<string, unknown>) => (await call(name, args)).structuredContent as T,
    text: async (name, args) => textOf(await call(name, args)),
    get notices() {
      return notices
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
}
