import { PassThrough } from 'node:stream'
import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { runtimeOf } from '../runtime/servable.ts'
import type { Era } from '../tool/context.ts'
import type { Principal } from '../tool/principal.ts'
import { createHandler, type HandlerOptions } from '../transports/handler.ts'
import { listen } from '../transports/node.ts'
import { serveStdio } from '../transports/stdio.ts'
import { type TestClient, testClient } from './client.ts'

/** How a client reaches a server: over what, and in which era of the protocol. */
export interface Way {
  readonly transport: 'stdio' | 'http' | 'memory'
  readonly era: Era
}

/** Every way in which a client can connect; run a scenario over each. */
export const ways: readonly Way[] = [
  { transport: 'stdio', era: 'session' },
  { transport: 'stdio', era: 'stateless' },
  { transport: 'http', era: 'session' },
  { transport: 'http', era: 'stateless' },
]

export interface ConnectOptions {
  readonly principal?: Principal
  /** What the client asks for in its address, such as `groups=files`. */
  readonly view?: string
  /** `false` for a client that does not listen for changes. */
  readonly listens?: boolean
  /** The `clientInfo.name` that it sends. Default: `test-client`. */
  readonly name?: string
}

/** A served toolbox that any number of clients can connect to. */
export interface TestServer extends AsyncDisposable {
  connect(options?: ConnectOptions): Promise<TestClient>
  close(): Promise<void>
}

const principalHeader = 'x-test-principal'

export interface TestServerOptions extends HandlerOptions {
  /** How long the reply to an activation waits for a client to list again. Default: 0, because test clients list when they want. */
  readonly relistTimeoutMs?: number
}

/** Serves a toolbox in this way: over pipes, over a socket on loopback, or (`memory`) over the web-standard handler itself. */
export async function testServer(
  served: object,
  { transport, era }: Way,
  { relistTimeoutMs = 0, ...options }: TestServerOptions = {},
): Promise<TestServer> {
  const open = { stdio: pipes, http: socket, memory: inProcess }[transport]
  runtimeOf(served).relists.timeoutMs = relistTimeoutMs
  const wiring = await open(served, { authenticate, ...options })
  const clients = new Set<TestClient>()
  const end = async (): Promise<void> => {
    for (const client of clients) await client.close()
    await wiring.close()
  }
  return {
    async connect({ listens = true, name, ...rest } = {}) {
      const client = await testClient(wiring.wire(rest), { era, listens, ...(name !== undefined && { name }) })
      clients.add(client)
      return client
    },
    close: end,
    [Symbol.asyncDispose]: end,
  }
}

interface Wiring {
  wire(options: Omit<ConnectOptions, 'listens' | 'name'>): Transport
  close(): Promise<void>
}

async function socket(served: object, options: HandlerOptions): Promise<Wiring> {
  const listening = await listen(served, { ...options, port: 0 })
  return {
    wire: ({ principal, view }) =>
      new StreamableHTTPClientTransport(addressOf(listening.url, view), { requestInit: { headers: headersFor(principal) } }),
    close: () => listening.close(),
  }
}

async function inProcess(served: object, options: HandlerOptions): Promise<Wiring> {
  const handler = createHandler(served, options)
  return {
    wire: ({ principal, view }) =>
      new StreamableHTTPClientTransport(addressOf('http://localhost/mcp', view), {
        requestInit: { headers: headersFor(principal) },
        fetch: (url, init) => handler.fetch(new Request(url, init)),
      }),
    close: () => handler.close(),
  }
}

async function pipes(served: object): Promise<Wiring> {
  const connections: { close(): Promise<void> }[] = []
  return {
    wire({ principal, view = '' }) {
      const toServer = new PassThrough()
      const toClient = new PassThrough()
      connections.push(
        serveStdio(served, {
          transport: new StdioServerTransport(toServer, toClient),
          view,
          ...(principal !== undefined && { principal }),
        }),
      )
      // Both ends of a pipe speak the same lines, so the server's transport serves as the client's as well.
      return new StdioServerTransport(toClient, toServer)
    },
    async close() {
      for (const connection of connections) await connection.close()
    },
  }
}

const addressOf = (url: string, view: string | undefined): URL => new URL(view === undefined ? url : `${url}?${view}`)

const headersFor = (principal: Principal | undefined): Record<string, string> =>
  principal === undefined ? {} : { [principalHeader]: encodeURIComponent(JSON.stringify(principal)) }

function authenticate(request: Request): Principal | undefined {
  const text = request.headers.get(principalHeader)
  return text === null ? undefined : (JSON.parse(decodeURIComponent(text)) as Principal)
}
