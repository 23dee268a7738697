import { McpServer, Server, type ServerCapabilities, type ServerOptions } from '@modelcontextprotocol/server'
import { discovery } from '@unfold-mcp/core'
import { cacheHint } from '../operations/cache-hint.ts'
import { extensionSettings } from '../operations/identity.ts'
import { instructionsFor } from '../operations/instructions.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { jsonSchemaValidator } from '../schema/schema.ts'
import type { Scope } from '../scope/scope.ts'

/** The revision without sessions. */
export const statelessRevision = '2026-07-28'

/** The SDK's server for one scope: it answers every method that is not ours. */
export function sdkHost(
  runtime: Runtime,
  scope: Scope,
  /** Whether a client may ask what the server is for. */
  introduces = true,
): Server | McpServer {
  if (runtime.adoptedHost !== undefined) return runtime.adoptedHost(runtime, scope, introduces)
  const { info, extend } = runtime.declaration
  const instructions = introduces ? instructionsFor(runtime, scope) : undefined
  const options: ServerOptions = {
    jsonSchemaValidator,
    ...(instructions !== undefined && { instructions }),
    ...(scope.settings.era === 'stateless' && {
      supportedProtocolVersions: [statelessRevision],
      cacheHints: { 'tools/list': cacheHint(runtime), 'server/discover': cacheHint(runtime) },
    }),
  }
  const capabilities = { ...capabilitiesOf(runtime, introduces ? scope : undefined), logging: {} }
  if (extend.length === 0) return new Server(info, { ...options, capabilities })
  const mcp = new McpServer(info, options)
  mcp.server.registerCapabilities(capabilities)
  // Taken, so that the SDK refuses tools that `extend` registers: nobody could call them.
  for (const method of ['tools/list', 'tools/call'] as const) mcp.server.setRequestHandler(method, unreachable)
  const { era, principal } = scope.settings
  for (const register of extend) register(mcp, { scope: scope.key, era, principal })
  return mcp
}

async function unreachable(): Promise<never> {
  throw new Error('Requests for tools are answered before they reach the SDK.')
}

/** What the runtime can honour, with what this scope may know at once. */
export function capabilitiesOf(runtime: Runtime, scope?: Scope): ServerCapabilities {
  const settings = scope === undefined ? {} : extensionSettings(runtime, scope)
  return {
    tools: runtime.declaration.listChanged ? { listChanged: true } : {},
    ...(runtime.declaration.identity !== false && { extensions: { [discovery.extension]: settings as Record<string, never> } }),
  }
}

/** Notifies the client of this server that its list changed; a client that is gone is not a failure. */
export async function sendListChanged(runtime: Runtime, host: Server | McpServer): Promise<void> {
  if (!runtime.declaration.listChanged) return
  // The sender of an adopted server announces its own tools, which are not the same.
  await Server.prototype.notification.call(lowLevel(host), { method: 'notifications/tools/list_changed' }).catch(() => undefined)
}

/** Has `initialized` and `closed` called after what the server itself does then; an adopted one may do something. */
export function follow(
  scopedServer: Server | McpServer,
  { initialized, closed }: { initialized?: () => void; closed: () => void },
): void {
  const server = lowLevel(scopedServer)
  const { oninitialized, onclose } = server
  if (initialized !== undefined) {
    server.oninitialized = () => {
      oninitialized?.()
      initialized()
    }
  }
  server.onclose = () => {
    try {
      onclose?.()
    } finally {
      closed()
    }
  }
}

/** The part of a server that speaks the protocol. */
export const lowLevel = (scopedServer: Server | McpServer): Server =>
  scopedServer instanceof McpServer ? scopedServer.server : scopedServer
