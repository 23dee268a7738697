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
import { Calls, internalsOf, type RequestHandler } from './adoption/calls.ts'
import { contextIn, ownMethods } from './adoption/methods.ts'
import { AdoptedTools, type ListPage, unusable, type WithList } from './adoption/tools.ts'
import { mayShare } from './catalog/declaration.ts'
import type { ConnectingClient } from './catalog/scoped-server.ts'
import { cacheHint } from './operations/cache-hint.ts'
import { instructionsFor } from './operations/instructions.ts'
import { capabilitiesOf } from './protocol/sdk-host.ts'
import { authInfoOf } from './protocol/sessions.ts'
import type { Runtime } from './runtime/runtime.ts'
import type { Scope } from './scope/scope.ts'
import type { ToolContext } from './tool/context.ts'
import type { Principal } from './tool/principal.ts'
import type { HandlerResult } from './tool/result.ts'

/**
 * Gives the tools of an existing server groups, exposure and the rest. The factory makes a server for every session, request
 * or connection, as it does for the SDK's own `createMcpHandler` and `serveStdio`; all but its tools is served by it as before.
 */
export function adopt<const Name extends string = never, F extends Facts = Facts, P extends Principal = Principal>(
  factory: McpServerFactory,
  options: AdoptOptions<Name, F, P> = {},
): Adopted<Name, F, P> {
  return new Adopted(options, makerOf(factory))
}

function makerOf(factory: McpServerFactory): Make {
  return async (connecting, rules, admit) => {
    const make = async (): Promise<Inner> => innerOf(await factory(contextOf(connecting)))
    const inner = await make()
    const calls = new Calls()
    const changed = (): void => tools.changed()
    const tools = new AdoptedTools({
      name: inner.name,
      era: connecting.era,
      rules,
      admit,
      list: lister(inner, connecting),
      call: (name, args, ctx) => called(inner, calls.paramsOf(name, args, contextIn(ctx.client)), ctx, changed),
    })
    intercept(inner, changed)
    await tools.begin()
    const remade: WithList = async (read) => read(lister(await make(), connecting))
    return adoptedServerOf(inner, tools, calls, connecting.era === 'stateless' ? remade : undefined)
  }
}

/** A server as its author made it. */
interface Inner {
  readonly made: Server | McpServer
  readonly server: Server
  readonly name: string
  readonly list: RequestHandler
  readonly call: RequestHandler
}

const served = new WeakSet<Server>()

function innerOf(made: Server | McpServer): Inner {
  const server = (made as Partial<McpServer>).server ?? (made as Server)
  const internals = internalsOf(server)
  const name = internals._serverInfo?.name ?? 'The server'
  if (typeof internals._getRequestHandler !== 'function') {
    const remedy = "For one of the SDK's version 1 use adoptV1 from '@unfold-mcp/server/adopt-v1'"
    throw unusable(name, `it is no server of the MCP TypeScript SDK, version 2. ${remedy}`)
  }
  if (served.has(server)) throw unusable(name, 'the factory gave the same server twice. It must make a new one each time')
  if (server.transport !== undefined)
    throw unusable(name, 'it is connected already. The factory must leave that to whoever serves it')
  const list = internals._getRequestHandler('tools/list')
  const call = internals._getRequestHandler('tools/call')
  if (list === undefined || call === undefined) throw unusable(name, 'it has no tools')
  return { made, server, name, list, call }
}

function adoptedServerOf(inner: Inner, tools: AdoptedTools, calls: Calls, remade: WithList | undefined): AdoptedServer {
  const { made, server } = inner
  return {
    name: tools.name,
    info: { name: tools.name, version: internalsOf(server)._serverInfo?.version ?? '' },
    entries: () => tools.entries(),
    subscribe: (changed) => tools.subscribe(changed),
    upToDate: () => tools.upToDate(),
    refresh: () => tools.changed(server.transport === undefined ? remade : undefined),
    serve(runtime, scope, introduces) {
      served.add(server)
      const capabilities = capabilitiesOf(runtime, introduces ? scope : undefined)
      server.registerCapabilities({ ...capabilities, tools: { listChanged: runtime.declaration.listChanged } })
      instruct(server, instructionsFor(runtime, scope))
      ownMethods(runtime, scope, server, hintOf(runtime, scope))
      calls.handle(runtime, scope, server, tools)
      // The SDK asks whether it is an McpServer, which one of another copy of the SDK is not.
      return made instanceof McpServer ? made : server
    },
    close: () => server.close().catch(() => undefined),
  }
}

// There is no public way to have instructions that depend on who connects.
function instruct(server: Server, ours: string | undefined): void {
  const internals = internalsOf(server)
  if (ours !== undefined) internals._instructions = [internals._instructions, ours].filter(Boolean).join('\n\n')
}

/** How long the list may be kept is what the server says, unless the options say so or make it differ between clients. */
function hintOf(runtime: Runtime, scope: Scope) {
  const { ttlMs, permit } = runtime.declaration
  const isOurs = ttlMs !== undefined || permit !== undefined || mayShare(runtime.declaration)
  return isOurs && scope.settings.era === 'stateless' ? cacheHint(runtime) : {}
}

const listChanged = 'notifications/tools/list_changed'

/** The server's own notices of changed tools lead to a look at them; what its client is told is decided by what that finds. */
function intercept({ made, server }: Inner, changed: () => void): void {
  if (made !== server) (made as McpServer).sendToolListChanged = changed
  const send = server.notification.bind(server)
  server.notification = async (notification: Notification, options) =>
    notification.method === listChanged ? changed() : send(notification, options)
}

/** Calls the server's own handler with what the client sent; whatever comes of it leaves as it is. */
async function called(
  { call }: Inner,
  params: JSONRPCRequest['params'] & object,
  { client, signal }: ToolContext,
  changed: () => void,
): Promise<HandlerResult> {
  const mcp = contextIn(client) ?? detached('tools/call')
  const { id, notify } = mcp.mcpReq
  const ctx: ServerContext = {
    ...mcp,
    mcpReq: {
      ...mcp.mcpReq,
      signal: AbortSignal.any([mcp.mcpReq.signal, signal]),
      notify: async (notification, ...rest) => (notification.method === listChanged ? changed() : notify(notification, ...rest)),
    },
  }
  try {
    return (await call({ jsonrpc: '2.0', id, method: 'tools/call', params }, ctx)) as HandlerResult
  } catch (error) {
    throw asSent(error)
  }
}

/** The error with the code that the SDK would send it under, so that it is sent rather than shown to the model. */
function asSent(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error
  const { code, message, data } = (error ?? {}) as { code?: unknown; message?: string; data?: unknown }
  const sent = typeof code === 'number' && Number.isSafeInteger(code) ? code : ProtocolErrorCode.InternalError
  return new ProtocolError(sent, message ?? 'Internal error', data)
}

function lister({ list }: Inner, { principal }: ConnectingClient): ListPage {
  const http = principal === undefined ? {} : { http: { authInfo: authInfoOf(principal) } }
  return (cursor) => {
    const request: JSONRPCRequest = {
      jsonrpc: '2.0',
      id: 0,
      method: 'tools/list',
      params: cursor === undefined ? {} : { cursor },
    }
    return list(request, { ...detached('tools/list'), ...http })
  }
}

/** The context of a request that no client made. */
function detached(method: string): ServerContext {
  const nobody = async (): Promise<never> => {
    throw new Failure('no_scope', 'There is no client to ask: no client made this request.', { operation: method })
  }
  const silent = async (): Promise<void> => undefined
  return {
    mcpReq: {
      id: 0,
      method,
      signal: new AbortController().signal,
      requestState: () => undefined,
      send: nobody,
      notify: silent,
      log: silent,
      elicitInput: nobody,
      requestSampling: nobody,
    },
  }
}

function contextOf({ era, principal, request }: ConnectingClient): Parameters<McpServerFactory>[0] {
  return {
    era: era === 'session' ? 'legacy' : 'modern',
    ...(principal !== undefined && { authInfo: authInfoOf(principal) }),
    ...(request !== undefined && { requestInfo: request() }),
  }
}
