import {
  type JSONRPCRequest,
  McpServer,
  type McpServerFactory,
  type Notification,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { type Facts, Failure } from '@unfold-mcp/core'
import { Adopted, type AdoptOptions, type Make } from './adopted.ts'
import type { AdoptedServer } from './adoption/adopted-server.ts'
import { CallInterceptor, internalsOf, type RequestHandler } from './adoption/call-interceptor.ts'
import { registerOwnMethods, sdkContextOf } from './adoption/methods.ts'
import { AdoptedTools, type ListPage, unsupportedServer, type WithLister } from './adoption/tools.ts'
import { mayShare } from './catalog/declaration.ts'
import type { ConnectingClient } from './catalog/scoped-server.ts'
import { cacheHint } from './operations/cache-hint.ts'
import { instructionsFor } from './operations/instructions.ts'
import { authInfoOf } from './protocol/auth-info.ts'
import { capabilitiesOf } from './protocol/sdk-host.ts'
import type { Runtime } from './runtime/runtime.ts'
import type { Scope } from './scope/scope.ts'
import type { ToolContext } from './tool/context.ts'
import type { Principal } from './tool/principal.ts'
import type { HandlerResult } from './tool/result.ts'

/**
 * Adds groups, exposure and the other toolbox features to the tools of an existing server. The factory creates a server for every
 * session, request or connection, as for the SDK's `createMcpHandler` and `serveStdio`. Everything but its tools is unchanged.
 */
export function adopt<const Name extends string = never, F extends Facts = Facts, P extends Principal = Principal>(
  factory: McpServerFactory,
  options: AdoptOptions<Name, F, P> = {},
): Adopted<Name, F, P> {
  return new Adopted(options, serverFactory(factory))
}

function serverFactory(factory: McpServerFactory): Make {
  return async (connecting, rules, admit) => {
    const create = async (): Promise<InnerServer> => inspect(await factory(factoryContext(connecting)))
    const inner = await create()
    const interceptor = new CallInterceptor()
    const refresh = (): void => tools.refresh()
    const tools = new AdoptedTools({
      name: inner.name,
      era: connecting.era,
      rules,
      admit,
      list: lister(inner, connecting),
      call: (name, args, ctx) => callInner(inner, interceptor.paramsOf(name, args, sdkContextOf(ctx.client)), ctx, refresh),
    })
    interceptListChanged(inner, refresh)
    await tools.load()
    const withNewServer: WithLister = async (read) => read(lister(await create(), connecting))
    return toAdoptedServer(inner, tools, interceptor, connecting.era === 'stateless' ? withNewServer : undefined)
  }
}

/** The adopted server, with its own tool handlers. */
interface InnerServer {
  readonly original: Server | McpServer
  readonly server: Server
  readonly name: string
  readonly list: RequestHandler
  readonly call: RequestHandler
}

const usedServers = new WeakSet<Server>()

function inspect(original: Server | McpServer): InnerServer {
  const server = (original as Partial<McpServer>).server ?? (original as Server)
  const internals = internalsOf(server)
  const name = internals._serverInfo?.name ?? 'The server'
  if (typeof internals._getRequestHandler !== 'function') {
    const remedy = "For a server of version 1, use adoptV1 from '@unfold-mcp/server/adopt-v1'"
    throw unsupportedServer(name, `it is not a server of the MCP TypeScript SDK, version 2. ${remedy}`)
  }
  if (usedServers.has(server))
    throw unsupportedServer(name, 'the factory returned the same server twice. It must create a new one each time')
  if (server.transport !== undefined)
    throw unsupportedServer(name, 'it is already connected. The factory must return an unconnected server')
  const list = internals._getRequestHandler('tools/list')
  const call = internals._getRequestHandler('tools/call')
  if (list === undefined || call === undefined) throw unsupportedServer(name, 'it has no tools')
  return { original, server, name, list, call }
}

function toAdoptedServer(
  { original, server }: InnerServer,
  tools: AdoptedTools,
  interceptor: CallInterceptor,
  withNewServer: WithLister | undefined,
): AdoptedServer {
  return {
    name: tools.name,
    info: { name: tools.name, version: internalsOf(server)._serverInfo?.version ?? '' },
    entries: () => tools.entries(),
    subscribe: (changed) => tools.subscribe(changed),
    upToDate: () => tools.upToDate(),
    refresh: () => tools.refresh(server.transport === undefined ? withNewServer : undefined),
    serve(runtime, scope, isDiscoverable) {
      usedServers.add(server)
      const capabilities = capabilitiesOf(runtime, isDiscoverable ? scope : undefined)
      server.registerCapabilities({ ...capabilities, tools: { listChanged: runtime.declaration.listChanged } })
      appendInstructions(server, instructionsFor(runtime, scope))
      registerOwnMethods(runtime, scope, server, cacheHintFor(runtime, scope))
      interceptor.install(runtime, scope, server, tools)
      // The SDK uses `instanceof McpServer`, which fails for a server of another copy of the SDK.
      return original instanceof McpServer ? original : server
    },
    close: () => server.close().catch(() => undefined),
  }
}

// The SDK has no public API for instructions per client.
function appendInstructions(server: Server, instructions: string | undefined): void {
  const internals = internalsOf(server)
  if (instructions !== undefined) internals._instructions = [internals._instructions, instructions].filter(Boolean).join('\n\n')
}

/** The server's own cache hint applies, unless the options set one or make the list differ between clients. */
function cacheHintFor(runtime: Runtime, scope: Scope) {
  const { ttlMs, permit } = runtime.declaration
  const overrides = ttlMs !== undefined || permit !== undefined || mayShare(runtime.declaration)
  return overrides && scope.settings.era === 'stateless' ? cacheHint(runtime) : {}
}

const listChanged = 'notifications/tools/list_changed'

/** Turns the server's own list_changed notifications into a refresh; the runtime notifies clients if their list changed. */
function interceptListChanged({ original, server }: InnerServer, refresh: () => void): void {
  if (original !== server) (original as McpServer).sendToolListChanged = refresh
  const send = server.notification.bind(server)
  server.notification = async (notification: Notification, options) =>
    notification.method === listChanged ? refresh() : send(notification, options)
}

/** Calls the server's own handler with the client's params; its result is not changed. */
async function callInner(
  { call }: InnerServer,
  params: JSONRPCRequest['params'] & object,
  { client, signal }: ToolContext,
  refresh: () => void,
): Promise<HandlerResult> {
  const mcp = sdkContextOf(client) ?? detachedContext('tools/call')
  const { id, notify } = mcp.mcpReq
  const ctx: ServerContext = {
    ...mcp,
    mcpReq: {
      ...mcp.mcpReq,
      signal: AbortSignal.any([mcp.mcpReq.signal, signal]),
      notify: async (notification, ...rest) => (notification.method === listChanged ? refresh() : notify(notification, ...rest)),
    },
  }
  try {
    return (await call({ jsonrpc: '2.0', id, method: 'tools/call', params }, ctx)) as HandlerResult
  } catch (error) {
    throw toProtocolError(error)
  }
}

/** Uses the code that the SDK would send; other errors would become tool results for the model. */
function toProtocolError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error
  const { code, message, data } = (error ?? {}) as { code?: unknown; message?: string; data?: unknown }
  const errorCode = typeof code === 'number' && Number.isSafeInteger(code) ? code : ProtocolErrorCode.InternalError
  return new ProtocolError(errorCode, message ?? 'Internal error', data)
}

function lister({ list }: InnerServer, { principal }: ConnectingClient): ListPage {
  const http = principal === undefined ? {} : { http: { authInfo: authInfoOf(principal) } }
  return (cursor) => {
    const request: JSONRPCRequest = {
      jsonrpc: '2.0',
      id: 0,
      method: 'tools/list',
      params: cursor === undefined ? {} : { cursor },
    }
    return list(request, { ...detachedContext('tools/list'), ...http })
  }
}

/** Context of a request that no client sent. */
function detachedContext(method: string): ServerContext {
  const noClient = async (): Promise<never> => {
    throw new Failure('no_scope', 'No client sent this request, so the server cannot send it requests.', { operation: method })
  }
  const ignore = async (): Promise<void> => undefined
  return {
    mcpReq: {
      id: 0,
      method,
      signal: new AbortController().signal,
      requestState: () => undefined,
      send: noClient,
      notify: ignore,
      log: ignore,
      elicitInput: noClient,
      requestSampling: noClient,
    },
  }
}

function factoryContext({ era, principal, request }: ConnectingClient): Parameters<McpServerFactory>[0] {
  return {
    era: era === 'session' ? 'legacy' : 'modern',
    ...(principal !== undefined && { authInfo: authInfoOf(principal) }),
    ...(request !== undefined && { requestInfo: request() }),
  }
}
