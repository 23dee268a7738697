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

/** Transport and protocol era of a test client. */
export interface TestTransport {
  readonly transport: 'stdio' | 'http' | 'memory'
  readonly era: Era
}

/** All combinations of stdio and HTTP with both eras, to run a scenario over each. */
export const testTransports: readonly TestTransport[] = [
  { transport: 'stdio', era: 'session' },
  { transport: 'stdio', era: 'stateless' },
  { transport: 'http', era: 'session' },
  { transport: 'http', era: 'stateless' },
]

export interface ConnectOptions {
  readonly principal?: Principal
  /** View in URL query syntax, such as `groups=files`. */
  readonly view?: string
  /** `false` for a client that does not listen for notifications. Default: `true`. */
  readonly listens?: boolean
  /** `clientInfo.name`. Default: `test-client`. */
  readonly name?: string
}

/** A served toolbox for any number of clients. */
export interface TestServer extends AsyncDisposable {
  connect(options?: ConnectOptions): Promise<TestClient>
  close(): Promise<void>
}

const principalHeader = 'x-test-principal'

export interface TestServerOptions extends HandlerOptions {
  /** Time that the result of an activation waits for the client to list again. Default: 0, because test clients do not list by themselves. */
  readonly relistTimeoutMs?: number
}

/** Serves a toolbox over in-process pipes, over HTTP on loopback, or (`memory`) over the handler's `fetch`. */
export async function testServer(
  served: object,
  { transport, era }: TestTransport,
  { relistTimeoutMs = 0, ...options }: TestServerOptions = {},
): Promise<TestServer> {
  const start = { stdio: overPipes, http: overHttp, memory: overFetch }[transport]
  runtimeOf(served).relists.timeoutMs = relistTimeoutMs
  const connector = await start(served, { authenticate, ...options })
  const clients = new Set<TestClient>()
  const end = async (): Promise<void> => {
    for (const client of clients) await client.close()
    await connector.close()
  }
  return {
    async connect({ listens = true, name, ...rest } = {}) {
      const client = await testClient(connector.createTransport(rest), { era, listens, ...(name !== undefined && { name }) })
      clients.add(client)
      return client
    },
    close: end,
    [Symbol.asyncDispose]: end,
  }
}

interface Connector {
  createTransport(options: Omit<ConnectOptions, 'listens' | 'name'>): Transport
  close(): Promise<void>
}

async function overHttp(served: object, options: HandlerOptions): Promise<Connector> {
  const listening = await listen(served, { ...options, port: 0 })
  return {
    createTransport: ({ principal, view }) =>
      new StreamableHTTPClientTransport(urlWithView(listening.url, view), {
        requestInit: { headers: principalHeaders(principal) },
      }),
    close: () => listening.close(),
  }
}

async function overFetch(served: object, options: HandlerOptions): Promise<Connector> {
  const handler = createHandler(served, options)
  return {
    createTransport: ({ principal, view }) =>
      new StreamableHTTPClientTransport(urlWithView('http://localhost/mcp', view), {
        requestInit: { headers: principalHeaders(principal) },
        fetch: (url, init) => handler.fetch(new Request(url, init)),
      }),
    close: () => handler.close(),
  }
}

async function overPipes(served: object): Promise<Connector> {
  const connections: { close(): Promise<void> }[] = []
  return {
    createTransport({ principal, view = '' }) {
      const toServer = new PassThrough()
      const toClient = new PassThrough()
      connections.push(
        serveStdio(served, {
          transport: new StdioServerTransport(toServer, toClient),
          view,
          ...(principal !== undefined && { principal }),
        }),
      )
      // Both ends use the same line format, so the server's transport class works for the client too.
      return new StdioServerTransport(toClient, toServer)
    },
    async close() {
      for (const connection of connections) await connection.close()
    },
  }
}

const urlWithView = (url: string, view: string | undefined): URL => new URL(view === undefined ? url : `${url}?${view}`)

const principalHeaders = (principal: Principal | undefined): Record<string, string> =>
  principal === undefined ? {} : { [principalHeader]: encodeURIComponent(JSON.stringify(principal)) }

function authenticate(request: Request): Principal | undefined {
  const text = request.headers.get(principalHeader)
  return text === null ? undefined : (JSON.parse(decodeURIComponent(text)) as Principal)
}
