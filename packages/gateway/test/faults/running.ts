import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { until } from '../../../client/test/processes.ts'
import { fromFile } from '../gateway-file.ts'
import { recorded } from '../upstreams.ts'

/** A client of a gateway, with the number of its change notifications. */
export interface GatewayClient extends AsyncDisposable {
  readonly notices: number
  names(): Promise<readonly string[]>
  call(name: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<CallToolResult>
}

export type Gatewayed = Awaited<ReturnType<typeof runningGateway>>

export interface RunningOptions {
  /** The configuration apart from the servers. */
  readonly rest?: object
  /** A folder that is kept, such as one that another gateway used. */
  readonly folder?: string
}

/** A complete gateway with these servers: its file, its socket, and all events of its upstreams. */
export async function runningGateway(servers: Readonly<Record<string, object>>, { rest = {}, folder }: RunningOptions = {}) {
  const config = (mcpServers: object): object => ({ mcpServers, exposure: 'everything', ...rest })
  const { running, home, file, messages, write, close } = await fromFile(config(servers), folder === undefined ? {} : { folder })
  const { gateway } = running
  const of = recorded(gateway.upstreams.events)
  return {
    ...running,
    folder: home,
    file,
    /** Its log messages. */
    messages,
    of,
    close,
    /** The tools of a client without restrictions. */
    listed: (): readonly string[] => gateway.source.entries().map(({ tool }) => tool.name),
    /** Changes its servers by editing its file. */
    async edit(mcpServers: object): Promise<void> {
      await write(config(mcpServers))
      await running.reload()
    },
    state: (upstream: string): string | undefined => gateway.upstreams.get(upstream)?.state,
    reaches: (upstream: string, state: string): Promise<void> =>
      until(() => gateway.upstreams.get(upstream)?.state === state, `${upstream} is ${state}`),
    lists: (name: string): Promise<void> =>
      until(() => gateway.source.entries().some(({ tool }) => tool.name === name), `${name} is listed`),
    connect: (era: 'session' | 'stateless' = 'session'): Promise<GatewayClient> => client(running.url ?? '', era),
    [Symbol.asyncDispose]: () => close(),
  }
}

async function client(url: string, era: 'session' | 'stateless'): Promise<GatewayClient> {
  const mode = era === 'session' ? 'legacy' : { pin: '2026-07-28' }
  const own = new Client({ name: 'test-client', version: '1.0.0' }, { versionNegotiation: { mode } })
  let notices = 0
  own.setNotificationHandler('notifications/tools/list_changed', () => void notices++)
  const transport = new StreamableHTTPClientTransport(new URL(url))
  await own.connect(transport)
  if (era === 'stateless') await own.listen({ toolsListChanged: true })
  return {
    get notices() {
      return notices
    },
    async names() {
      const { tools } = await own.listTools(undefined, { cacheMode: 'bypass' })
      // Those of upstreams; the gateway has its own too.
      return tools.map(({ name }) => name).filter((name) => name.includes('__'))
    },
    call: (name, args = {}, signal) => own.callTool({ name, arguments: args }, signal === undefined ? {} : { signal }),
    async [Symbol.asyncDispose]() {
      await transport.terminateSession().catch(() => undefined)
      await own.close()
    },
  }
}
