import { createMcpHandler, Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { registerOwnMethods } from '../src/adoption/methods.ts'
import type { Runtime } from '../src/runtime/runtime.ts'
import { runtimeOf } from '../src/runtime/servable.ts'
import type { Scope } from '../src/scope/scope.ts'
import { emptyView } from '../src/scope/url-view.ts'

interface FetchHandler {
  fetch(request: Request): Promise<Response>
}

/** Serves a toolbox with the SDK's session transport, for comparison. */
export async function sdkSession(served: object): Promise<FetchHandler> {
  const runtime = runtimeOf(served)
  const scope = await runtime.scopes.open({ key: 'session:reference', era: 'session', principal: undefined })
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => 'reference' })
  await serverFor(runtime, scope).connect(transport)
  return { fetch: (request) => transport.handleRequest(request) }
}

/** Serves a toolbox with the SDK's 2026-07-28 handler, for comparison. */
export function sdkStateless(served: object): FetchHandler {
  const runtime = runtimeOf(served)
  const factory = async (): Promise<Server> =>
    serverFor(runtime, await runtime.scopes.openEphemeral(emptyView, { principal: undefined }))
  return createMcpHandler(factory, { legacy: 'reject' })
}

function serverFor(runtime: Runtime, scope: Scope): Server {
  const server = new Server(runtime.declaration.info, { capabilities: { tools: {}, logging: {} } })
  registerOwnMethods(runtime, scope, server)
  return server
}
