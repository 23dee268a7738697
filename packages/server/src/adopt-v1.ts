import type { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js'
import type { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  type InitializeResult,
  type JSONRPCNotification,
  type JSONRPCRequest,
  LATEST_PROTOCOL_VERSION,
  type LoggingLevel,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Facts } from '@unfold-mcp/core'
import { Adopted, type AdoptOptions, type Make } from './adopted.ts'
import type { AdoptedServer } from './adoption/adopted-server.ts'
import { CallInterceptor } from './adoption/call-interceptor.ts'
import { InMemoryClient, type MessageExtra } from './adoption/in-memory-client.ts'
import { registerOwnMethods, sdkContextOf } from './adoption/methods.ts'
import { AdoptedTools, unsupportedServer, type WithLister } from './adoption/tools.ts'
import type { ConnectingClient } from './catalog/scoped-server.ts'
import { cacheHint } from './operations/cache-hint.ts'
import { instructionsFor } from './operations/instructions.ts'
import { authInfoOf } from './protocol/auth-info.ts'
import { capabilitiesOf } from './protocol/sdk-host.ts'
import type { Runtime } from './runtime/runtime.ts'
import { jsonSchemaValidator } from './schema/schema.ts'
import type { Scope } from './scope/scope.ts'
import type { Era, ToolContext } from './tool/context.ts'
import type { Principal } from './tool/principal.ts'
import type { HandlerResult } from './tool/result.ts'

/** Creates an unconnected server of the SDK's version 1. */
export type FactoryV1 = () => McpServerV1 | ServerV1 | Promise<McpServerV1 | ServerV1>

/**
 * Like `adopt`, for a server of the SDK's version 1. The factory creates a server for every session and connection. On 2026-07-28
 * it creates one for every request, because independent clients must not share a connection; there the server cannot send requests
 * to its client.
 */
export function adoptV1<const Name extends string = never, F extends Facts = Facts, P extends Principal = Principal>(
  factory: FactoryV1,
  options: AdoptOptions<Name, F, P> = {},
): Adopted<Name, F, P> {
  return new Adopted(options, serverFactory(factory))
}

function serverFactory(factory: FactoryV1): Make {
  return async (connecting, rules, admit) => {
    const inner = await connect(factory, connecting)
    const interceptor = new CallInterceptor()
    const tools = new AdoptedTools({
      name: inner.serverInfo.name,
      era: connecting.era,
      rules,
      admit,
      list: lister(inner.client, connecting),
      call: (name, args, ctx) => callInner(inner.client, interceptor.paramsOf(name, args, sdkContextOf(ctx.client)), ctx),
    })
    inner.client.onnotification = ({ method }) => {
      if (method === listChanged) tools.refresh()
    }
    try {
      await tools.load()
    } catch (error) {
      await inner.client.close()
      throw error
    }
    const withNewServer: WithLister = async (read) => {
      const { client } = await connect(factory, connecting)
      try {
        return await read(lister(client, connecting))
      } finally {
        await client.close()
      }
    }
    return toAdoptedServer(inner, tools, interceptor, connecting.era === 'stateless' ? withNewServer : undefined)
  }
}

/** Connection to the adopted server, with its `initialize` result. */
interface InnerServer extends InitializeResult {
  readonly client: InMemoryClient
}

async function connect(factory: FactoryV1, connecting: ConnectingClient): Promise<InnerServer> {
  const original = await factory()
  const server = 'server' in original ? original.server : original
  if ('_getRequestHandler' in server)
    throw unsupportedServer('The server', "it is a server of the SDK's version 2. Use adopt from '@unfold-mcp/server'")
  if (server.transport !== undefined)
    throw unsupportedServer('The server', 'it is already connected. The factory must create a new, unconnected server each time')
  const client = new InMemoryClient(connecting.sessionId)
  await original.connect(client.transport as unknown as Parameters<typeof original.connect>[0])
  const { protocolVersion, capabilities, clientInfo } = connecting.client ?? {}
  const initialized = (await client.request(
    'initialize',
    {
      protocolVersion: protocolVersion ?? LATEST_PROTOCOL_VERSION,
      capabilities: capabilities ?? {},
      clientInfo: clientInfo ?? { name: 'unfold', version: '1.0.0' },
    },
    { extra: extraOf(connecting) },
  )) as InitializeResult
  // Otherwise the client's own notification is forwarded.
  if (connecting.client === undefined) client.notify('notifications/initialized')
  if (initialized.capabilities.tools === undefined) {
    await client.close()
    throw unsupportedServer(initialized.serverInfo.name, 'it has no tools')
  }
  return { ...initialized, client }
}

function toAdoptedServer(
  inner: InnerServer,
  tools: AdoptedTools,
  interceptor: CallInterceptor,
  withNewServer: WithLister | undefined,
): AdoptedServer {
  let outer: Server | undefined
  return {
    name: tools.name,
    info: inner.serverInfo,
    entries: () => tools.entries(),
    subscribe: (changed) => tools.subscribe(changed),
    upToDate: () => tools.upToDate(),
    refresh: () => tools.refresh(outer?.transport === undefined ? withNewServer : undefined),
    serve(runtime, scope, isDiscoverable) {
      outer = createOuterServer(inner, runtime, scope, isDiscoverable)
      registerOwnMethods(runtime, scope, outer)
      interceptor.install(runtime, scope, outer, tools)
      bridge(outer, inner, scope.settings.era, tools)
      return outer
    },
    close: () => inner.client.close(),
  }
}

/** Creates the server that clients of both eras connect to. */
function createOuterServer(inner: InnerServer, runtime: Runtime, scope: Scope, isDiscoverable: boolean): Server {
  const { serverInfo, capabilities, instructions, protocolVersion } = inner
  const text = [instructions, instructionsFor(runtime, scope)].filter(Boolean).join('\n\n')
  const { tasks: _, ...declared } = capabilities as ServerCapabilities & { tasks?: unknown }
  const { extensions, ...added } = capabilitiesOf(runtime, isDiscoverable ? scope : undefined)
  const hint = cacheHint(runtime)
  return new Server(serverInfo, {
    jsonSchemaValidator,
    capabilities: { ...declared, ...added, extensions: { ...declared.extensions, ...extensions } },
    ...(text !== '' && { instructions: text }),
    ...(scope.settings.era === 'session'
      ? { supportedProtocolVersions: [protocolVersion] }
      : { cacheHints: { 'tools/list': hint, 'server/discover': hint } }),
  })
}

const listChanged = 'notifications/tools/list_changed'

const forwarded: { readonly [C in keyof ServerCapabilities]: readonly string[] } = {
  prompts: ['prompts/list', 'prompts/get'],
  resources: ['resources/list', 'resources/templates/list', 'resources/read', 'resources/subscribe', 'resources/unsubscribe'],
  completions: ['completion/complete'],
  logging: ['logging/setLevel'],
}

/** Forwards everything that is not about tools, in both directions. */
function bridge(outer: Server, { client, capabilities }: InnerServer, era: Era, tools: AdoptedTools): void {
  for (const [capability, methods] of Object.entries(forwarded)) {
    if (!(capability in capabilities)) continue
    for (const method of methods ?? [])
      outer.setRequestHandler(
        method as never,
        ((request: JSONRPCRequest, ctx: ServerContext) => forward(client, request, ctx)) as never,
      )
  }
  outer.setNotificationHandler('notifications/roots/list_changed', ({ params }) =>
    client.notify('notifications/roots/list_changed', params),
  )
  outer.oninitialized = () => client.notify('notifications/initialized')
  outer.onclose = () => void client.close()
  client.onclose = () => void outer.close()
  client.onnotification = (notification, related) => {
    if (notification.method === listChanged) tools.refresh()
    else {
      const request = era === 'session' ? related : (related ?? client.current)
      void forwardNotification(outer, notification, request, era).catch(() => undefined)
    }
  }
  client.onrequest = (request, related, signal) => {
    if (era === 'session') return forwardToClient(outer, client, request, related ?? client.current, signal)
    throw clientRequestUnsupported(request.method)
  }
}

function forward(client: InMemoryClient, { method, params }: JSONRPCRequest, ctx: ServerContext): Promise<unknown> {
  return client.request(method, params, { ctx, signal: ctx.mcpReq.signal, extra: extraFrom(ctx) })
}

/** Sends a notification to the client, on the stream of the request that it belongs to. */
async function forwardNotification(
  outer: Server,
  { method, params }: JSONRPCNotification,
  related: ServerContext | undefined,
  era: Era,
): Promise<void> {
  const notification = { method, ...(params !== undefined && { params }) }
  if (era === 'session') return related === undefined ? outer.notification(notification) : related.mcpReq.notify(notification)
  // A 2026-07-28 request sets its own log level, which `log` checks.
  if (method === 'notifications/message') {
    const { level, data, logger } = params as { level: LoggingLevel; data: unknown; logger?: string }
    return related?.mcpReq.log(level, data, logger)
  }
  return method === 'notifications/progress' ? related?.mcpReq.notify(notification) : outer.notification(notification)
}

// Maximum of a timer: the server that sends the request applies its own timeout.
const maxTimerMs = 2 ** 31 - 1

/** Forwards a request of the server to the client of a session. */
function forwardToClient(
  outer: Server,
  client: InMemoryClient,
  { method, params }: JSONRPCRequest,
  related: ServerContext | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const progressToken = params?._meta?.progressToken
  const options = {
    signal,
    timeout: maxTimerMs,
    ...(progressToken !== undefined && {
      onprogress: (progress: object) => client.notify('notifications/progress', { progressToken, ...progress }),
    }),
  }
  const request = { method, ...(params !== undefined && { params }) } as never
  return related === undefined ? outer.request(request, options) : related.mcpReq.send(request, options)
}

function clientRequestUnsupported(method: string): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.MethodNotFound,
    `${method} was not sent: a server of the SDK's version 1 cannot send requests to a client on protocol revision 2026-07-28. Use a client of an earlier revision, or return inputRequired() from a server of version 2.`,
  )
}

/** Calls the server's tool with the client's params; its result is not changed. */
async function callInner(inner: InMemoryClient, params: object, { client, signal }: ToolContext): Promise<HandlerResult> {
  const mcp = sdkContextOf(client)
  const extra = mcp === undefined ? {} : extraFrom(mcp)
  return (await inner.request('tools/call', params, { ctx: mcp, signal, extra })) as HandlerResult
}

function lister(client: InMemoryClient, connecting: ConnectingClient): (cursor: string | undefined) => Promise<unknown> {
  const extra = extraOf(connecting)
  return (cursor) => client.request('tools/list', cursor === undefined ? {} : { cursor }, { extra })
}

function extraOf({ principal, request }: ConnectingClient): MessageExtra {
  return {
    ...(principal !== undefined && { authInfo: authInfoOf(principal) }),
    ...(request !== undefined && { requestInfo: requestInfoOf(request()) }),
  }
}

function extraFrom({ http }: ServerContext): MessageExtra {
  return {
    ...(http?.authInfo !== undefined && { authInfo: http.authInfo }),
    ...(http?.req !== undefined && { requestInfo: requestInfoOf(http.req) }),
  }
}

function requestInfoOf({ headers, url }: Request) {
  return { headers: Object.fromEntries(headers), url: new URL(url) }
}
