import {
  type CacheHint,
  McpServer,
  Server,
  type ServerCapabilities,
  type ServerContext,
  type ServerOptions,
} from '@modelcontextprotocol/server'
import { isFailure } from '@unfold-mcp/core'
import { answer, type Call, protocolError } from '../runtime/calls.ts'
import { instructionsFor } from '../runtime/instructions.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../runtime/scope.ts'
import { jsonSchemaValidator } from '../schema.ts'
import { extensionId, extensionSettings, listMeta, withDiscovery } from './discovery.ts'
import { takeQuestion } from './quick-call.ts'

/** The revision without sessions. */
export const statelessRevision = '2026-07-28'

/** What a protocol server is made for. */
export interface ServerPurpose {
  /** Whether a client may ask what it is for. */
  readonly introduces?: boolean
  /** Whether it answers for tools alone: then nothing else has to be registered. */
  readonly isForTools?: boolean
}

/** A protocol server of the SDK that shows one scope of a runtime. */
export function protocolServer(
  runtime: Runtime,
  scope: Scope,
  { introduces = true, isForTools = false }: ServerPurpose = {},
): Server | McpServer {
  if (scope.product !== undefined) return scope.product.serve(runtime, scope, introduces)
  const { info, extend } = runtime.declaration
  const instructions = introduces ? instructionsFor(runtime, scope) : undefined
  const options: ServerOptions = {
    jsonSchemaValidator,
    ...(instructions !== undefined && { instructions }),
    ...(scope.frame.era === 'stateless' && {
      supportedProtocolVersions: [statelessRevision],
      cacheHints: { 'tools/list': cacheHint(runtime), 'server/discover': cacheHint(runtime) },
    }),
  }
  const capabilities = { ...capabilitiesOf(runtime, introduces ? scope : undefined), logging: {} }
  if (extend.length === 0 || isForTools) return withTools(runtime, scope, new Server(info, { ...options, capabilities }))
  const mcp = new McpServer(info, options)
  mcp.server.registerCapabilities(capabilities)
  withTools(runtime, scope, mcp.server)
  const { era, principal } = scope.frame
  for (const register of extend) register(mcp, { scope: scope.key, era, principal })
  return mcp
}

/** What the runtime can honour, with what this scope may know at once. */
export function capabilitiesOf(runtime: Runtime, scope?: Scope): ServerCapabilities {
  const settings = scope === undefined ? {} : extensionSettings(runtime, scope)
  return {
    tools: runtime.declaration.listChanged ? { listChanged: true } : {},
    ...(runtime.declaration.identity !== false && { extensions: { [extensionId]: settings as Record<string, never> } }),
  }
}

/** How long and by whom a stateless client's list may be kept. */
export function cacheHint(runtime: Runtime): CacheHint & { ttlMs: number; cacheScope: 'public' | 'private' } {
  const ttlMs = runtime.declaration.ttlMs ?? (runtime.canChange || runtime.dependsOnPrincipal ? 0 : 60_000)
  return { ttlMs, cacheScope: runtime.dependsOnPrincipal ? 'private' : 'public' }
}

/** Tells the client of this server that its list changed; a client that is gone is no failure. */
export async function sendListChanged(runtime: Runtime, product: Server | McpServer): Promise<void> {
  if (!runtime.declaration.listChanged) return
  // The sender of an adopted server says that its own tools changed, which is not the same.
  await Server.prototype.notification
    .call(lowLevel(product), { method: 'notifications/tools/list_changed' })
    .catch(() => undefined)
}

/** Has `initialized` and `closed` called after what the server itself does then; an adopted one may do something. */
export function follow(
  product: Server | McpServer,
  { initialized, closed }: { initialized?: () => void; closed: () => void },
): void {
  const server = lowLevel(product)
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
export const lowLevel = (product: Server | McpServer): Server => (product instanceof McpServer ? product.server : product)

/** Lets the runtime answer for the tools of this server. `hint` is for a server whose options have none. */
export function withTools(runtime: Runtime, scope: Scope, server: Server, hint: CacheHint = {}): Server {
  server.setRequestHandler('tools/list', async (request) => {
    await scope.product?.upToDate()
    return onTheWire(() => {
      const list = runtime.list(scope, request.params?.cursor)
      if (scope.product !== undefined) runtime.announcer.known(scope)
      return { ...list, ...listMeta(runtime, scope), ...hint } as never
    })
  })
  withDiscovery(runtime, scope, server, onTheWire)
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args } }, ctx: ServerContext) => {
    const left = takeQuestion(scope, ctx.mcpReq.id)
    if (left !== undefined) return left
    const result = await onTheWire(() => answer(runtime, scope, callOf(name, args, ctx)))
    if ('resultType' in result && result.resultType === 'input_required') return result
    return server.projectCallToolResult(result as never, runtime.outputSchemaOf(scope, name))
  })
  return server
}

/** A call as the SDK hands it on. */
export function callOf(name: string, args: unknown, ctx: ServerContext): Call {
  const { _meta: meta, envelope, signal, inputResponses } = ctx.mcpReq
  let context: ServerContext | undefined
  return {
    name,
    ...(args !== undefined && { arguments: args }),
    meta,
    envelope,
    signal,
    isRepeated: inputResponses !== undefined || ctx.mcpReq.requestState() !== undefined,
    context: () => {
      context ??= askingAlongside(ctx)
      return context
    },
  }
}

// The SDK sends these questions on the stream for notices, and loses them, and the call waits in vain, while it is not open.
export function askingAlongside(ctx: ServerContext): ServerContext {
  const { id, elicitInput, requestSampling } = ctx.mcpReq
  return {
    ...ctx,
    mcpReq: {
      ...ctx.mcpReq,
      elicitInput: (params, options) => elicitInput(params, { relatedRequestId: id, ...options }),
      requestSampling: (params, options) => requestSampling(params, { relatedRequestId: id, ...options }),
    },
  }
}

/** A failure becomes what the client gets of it. */
export async function onTheWire<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isFailure(error) ? protocolError(error) : error
  }
}
