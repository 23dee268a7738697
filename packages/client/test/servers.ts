import { once } from 'node:events'
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer as McpServerOne } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { defineToolbox, listen, type ToolboxOptions, ToolRegistry } from '@unfold-mcp/server'
import { z } from 'zod'

export interface Served extends AsyncDisposable {
  readonly port: number
  readonly url: string
}

/** Local HTTP server. */
export async function serveHttp(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { port = 0, path = '/mcp' }: { readonly port?: number; readonly path?: string } = {},
): Promise<Served> {
  const http = createServer(answer)
  http.listen(port, '127.0.0.1')
  await once(http, 'listening')
  return served(http, path)
}

function served(http: HttpServer, path: string): Served {
  const { port } = http.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}${path}`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
}

/** Serves an object with `fetch` over HTTP. */
export function serveFetch(answer: (request: Request) => Promise<Response>): Promise<Served> {
  return serveHttp((incoming, outgoing) => {
    void (async () => {
      const parts: Buffer[] = []
      for await (const part of incoming) parts.push(part as Buffer)
      const { method = 'GET', url = '/', headers } = incoming
      const response = await answer(
        new Request(`http://localhost${url}`, {
          method,
          headers: headers as Record<string, string>,
          ...(parts.length > 0 && { body: Buffer.concat(parts) }),
        }),
      )
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      for await (const part of response.body ?? []) outgoing.write(part)
      outgoing.end()
    })()
  })
}

/** Toolbox with changeable tools. */
export function changeable(tools: number, options: Pick<ToolboxOptions<never>, 'exposure' | 'protocol'> = {}) {
  const registry = new ToolRegistry()
  const toolbox = defineToolbox({ name: 'changeable', version: '1.0.0', report: () => undefined, ...options }).use(registry)
  const removers = new Map<string, () => void>()
  const put = (name: string, description = `Does ${name}`): void => {
    removers.get(name)?.()
    removers.set(
      name,
      registry.register(
        name,
        { description, inputSchema: z.object({ what: z.string().optional() }) },
        ({ what = '' }) => `${name} ${what}`,
      ),
    )
  }
  for (let i = 0; i < tools; i++) put(`tool_${i}`)
  return {
    toolbox,
    put,
    remove: (name: string): void => {
      removers.get(name)?.()
      removers.delete(name)
    },
    names: () => [...removers.keys()].sort(),
  }
}

/** Serves a toolbox over HTTP. */
export async function serveToolbox(toolbox: object, port = 0): Promise<Served> {
  const listening = await listen(toolbox, { port })
  return {
    port: Number(new URL(listening.url).port),
    url: listening.url,
    [Symbol.asyncDispose]: () => listening.close(),
  }
}

/** Server built on the first SDK, over HTTP+SSE. */
export async function serveOldSse(port = 0): Promise<Served & { readonly add: (name: string) => void; readonly opened: number }> {
  const transports = new Map<string, { transport: SSEServerTransport; mcp: McpServerOne }>()
  const extra: string[] = []
  let opened = 0
  const make = (): McpServerOne => {
    const mcp = new McpServerOne({ name: 'old', version: '0.9.0' })
    const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
    mcp.registerTool('echo', { description: 'Echoes the message', inputSchema: { message: z.string() } }, ({ message }) =>
      text(message),
    )
    mcp.registerTool('wait', { description: 'Never answers' }, () => new Promise(() => undefined))
    for (const name of extra) mcp.registerTool(name, { description: 'More' }, () => text(name))
    return mcp
  }
  const http = await serveHttp(
    (request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost')
      if (request.method === 'GET' && url.pathname === '/sse') {
        opened++
        const transport = new SSEServerTransport('/messages', response)
        const mcp = make()
        transports.set(transport.sessionId, { transport, mcp })
        void mcp.connect(transport)
        return
      }
      const session = transports.get(url.searchParams.get('sessionId') ?? '')
      if (request.method === 'POST' && url.pathname === '/messages' && session !== undefined)
        void session.transport.handlePostMessage(request, response)
      else response.writeHead(404).end('not found')
    },
    { port, path: '/sse' },
  )
  return {
    ...http,
    get opened() {
      return opened
    },
    add(name) {
      extra.push(name)
      for (const { mcp } of transports.values()) mcp.registerTool(name, { description: 'More' }, () => ({ content: [] }))
    },
  }
}
