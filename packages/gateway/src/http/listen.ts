import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHandler, type Handler, toNodeHandler } from '@unfold-mcp/server'
import type { Gateway } from '../gateway.ts'
import { authenticate, mcpPath } from './authenticate.ts'

export interface HttpOptions {
  readonly host: string
  readonly port: number
}

export interface ListeningGateway extends AsyncDisposable {
  /** Where MCP clients connect. */
  readonly url: string
  readonly server: Server
  readonly handler: Handler
  close(): Promise<void>
}

/** Serves a gateway on an address. Done when it can be reached. */
export async function listenHttp(gateway: Gateway, { host, port }: HttpOptions): Promise<ListeningGateway> {
  const { limits } = gateway.config
  const handler = createHandler(gateway.toolbox, {
    authenticate: (request) => authenticate(request, gateway.config, gateway.access),
    maxBodyBytes: limits.bodyBytes,
    sessions: { max: limits.sessions },
    maxSubscriptions: limits.subscriptions,
  })
  const serve = toNodeHandler(handler)
  const server = createServer((request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?', 1)
    if (path === mcpPath || path.startsWith(`${mcpPath}/`)) serve(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  const { address, family, port: bound } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    await handler.close()
    server.closeAllConnections()
    await closed
  }
  const name = family === 'IPv6' ? `[${address}]` : address
  return { url: `http://${name}:${bound}${mcpPath}`, server, handler, close, [Symbol.asyncDispose]: close }
}
