import { StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client'
import { until } from '../../client/test/processes.ts'
import { type TestClient, testClient } from '../../server/src/testing/client.ts'
import { fromFile } from './gateway-file.ts'
import { server } from './upstreams.ts'

/** A plain server: its tools by name or definition, and its self-description. */
export interface Plain {
  readonly tools?: readonly (string | (Partial<Tool> & { readonly name: string }))[]
  readonly title?: string
  readonly instructions?: string
  /** Its `serverInfo`, in addition to name and title. */
  readonly info?: object
}

/** A plain server as a configuration entry. */
export const plain = (is: Plain, more: object = {}): object => ({ ...server('plain.mjs', JSON.stringify(is)), ...more })

export interface Asking {
  readonly era?: 'session' | 'stateless'
  /** The path after `/mcp`, such as `/work?groups=a`. */
  readonly at?: string
  readonly token?: string
  readonly listens?: boolean
}

export const eras = ['session', 'stateless'] as const

/** A complete gateway, run from a file: served over a socket, with its log, and reconfigured by edits of the file. */
export async function composition(config: {
  readonly mcpServers: Readonly<Record<string, object>>
  readonly [key: string]: unknown
}) {
  const remembering = (next: object): object => ({ store: { kind: 'memory' }, ...next })
  const { running, messages, write, close } = await fromFile(remembering(config))
  const { gateway } = running
  const clients = new Set<TestClient>()
  const settled = async (): Promise<void> => {
    const { upstreams } = gateway
    const isSettled = (): boolean => upstreams.statuses().every(({ state }) => state === 'ready' || state === 'disabled')
    await until(isSettled, 'every server is ready')
    const ready = upstreams.statuses().filter(({ state }) => state === 'ready')
    await Promise.all(ready.map(({ name }) => upstreams.discoverTools(name)))
  }
  await settled()
  return {
    gateway,
    url: running.url ?? '',
    /** Its log messages. */
    messages,
    settled,
    pid: (name: string): number | undefined => gateway.upstreams.get(name)?.status.pid,
    /** Edits its file, waits until the edit is applied or rejected, and returns the problems. */
    async edit(next: object | string): Promise<readonly string[]> {
      await write(typeof next === 'string' ? next : remembering(next))
      const { problems } = await running.reload()
      await settled()
      return problems.map(({ line, column, message }) => `${line}:${column} ${message}`)
    },
    async connect({ era = 'session', at = '', token, listens = true }: Asking = {}): Promise<TestClient> {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const transport = new StreamableHTTPClientTransport(new URL(`${running.url}${at}`), { requestInit: { headers } })
      const client = await testClient(transport, { era, listens })
      clients.add(client)
      return client
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.close().catch(() => undefined)
      await close()
    },
  }
}

/** Changes the tools of a server through the gateway, by calling one of them. */
export const become = async (client: TestClient, tool: string, tools: Plain['tools']): Promise<void> => {
  await client.call(tool, { become: tools })
}
