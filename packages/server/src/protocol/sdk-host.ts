import { McpServer, Server, type ServerCapabilities, type ServerOptions } from '@modelcontextprotocol/server'
import { discovery } from '@unfold-mcp/core'
import { cacheHint } from '../operations/cache-hint.ts'
import { extensionSettings } from '../operations/identity.ts'
import { instructionsFor } from '../operations/instructions.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { jsonSchemaValidator } from '../schema/schema.ts'
import type { Scope } from '../scope/scope.ts'

/** Protocol revision without sessions. */
export const statelessRevision = '2026-07-28'

/** Creates the SDK's server for a scope: it handles every method that is not ours. */
export function sdkHost(
  runtime: Runtime,
  scope: Scope,
  /** False if no client can read instructions and extension settings from this server. */
  isDiscoverable = true,
): Server | McpServer {
  if (runtime.adoptedHost !== undefined) return runtime.adoptedHost(runtime, scope, isDiscoverable)
  const { info, extend } = runtime.declaration
  const instructions = isDiscoverable ? instructionsFor(runtime, scope) : undefined
  const options: ServerOptions = {
    jsonSchemaValidator,
    ...(instructions !== undefined && { instructions }),
    ...(scope.settings.era === 'stateless' && {
      supportedProtocolVersions: [statelessRevision],
      cacheHints: { 'tools/list': cacheHint(runtime), 'server/discover': cacheHint(runtime) },
    }),
  }
  const capabilities = { ...capabilitiesOf(runtime, isDiscoverable ? scope : undefined), logging: {} }
  if (extend.length === 0) return new Server(info, { ...options, capabilities })
  const mcp = new McpServer(info, options)
  mcp.server.registerCapabilities(capabilities)
  // Registered so that the SDK rejects tools that `extend` registers, which could not be called.
  for (const method of ['tools/list', 'tools/call'] as const) mcp.server.setRequestHandler(method, unreachable)
  const { era, principal, share } = scope.settings
  for (const register of extend) register(mcp, { scope: scope.key, era, principal, share })
  return mcp
}

async function unreachable(): Promise<never> {
  throw new Error('Tool requests are handled before they reach the SDK.')
}

/** Returns the capabilities of the runtime, with the extension settings of the scope. */
export function capabilitiesOf(runtime: Runtime, scope?: Scope): ServerCapabilities {
  const settings = scope === undefined ? {} : extensionSettings(runtime, scope)
  return {
    tools: runtime.declaration.listChanged ? { listChanged: true } : {},
    ...(runtime.declaration.identity !== false && { extensions: { [discovery.extension]: settings as Record<string, never> } }),
  }
}

/** Notifies the client of this server that its list changed; ignores a client that has disconnected. */
export async function sendListChanged(runtime: Runtime, host: Server | McpServer): Promise<void> {
  if (!runtime.declaration.listChanged) return
  // Not the server's own method: `adopt` replaces it.
  await Server.prototype.notification.call(lowLevel(host), { method: 'notifications/tools/list_changed' }).catch(() => undefined)
}

/** Adds lifecycle callbacks after those of the server itself, which an adopted one may have. */
export function addLifecycleCallbacks(
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

export const lowLevel = (scopedServer: Server | McpServer): Server =>
  scopedServer instanceof McpServer ? scopedServer.server : scopedServer
