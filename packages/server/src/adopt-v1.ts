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
import { Calls } from './adoption/calls.ts'
import { Link, type MessageExtra } from './adoption/link.ts'
import { contextIn, ownMethods } from './adoption/methods.ts'
import { AdoptedTools, unusable, type WithList } from './adoption/tools.ts'
import type { ConnectingClient } from './catalog/scoped-server.ts'
import { cacheHint } from './operations/cache-hint.ts'
import { instructionsFor } from './operations/instructions.ts'
import { capabilitiesOf } from './protocol/sdk-host.ts'
import { authInfoOf } from './protocol/sessions.ts'
import type { Runtime } from './runtime/runtime.ts'
import { jsonSchemaValidator } from './schema/schema.ts'
import type { Scope } from './scope/scope.ts'
import type { Era, ToolContext } from './tool/context.ts'
import type { Principal } from './tool/principal.ts'
import type { HandlerResult } from './tool/result.ts'

/** Makes a server of the SDK's version 1, not yet connected to anything. */
export type FactoryV1 = () => McpServerV1 | ServerV1 | Promise<McpServerV1 | ServerV1>

/**
 * The same as `adopt` for a server of the SDK's version 1. It is made anew for every session and connection. On 2026-07-28 it
 * is made for every request, because clients that know nothing of each other must not share a server's connection; there it
 * can ask its client nothing.
 */
export function adoptV1<const Name extends string = never, F extends Facts = Facts, P extends Principal = Principal>(
  factory: FactoryV1,
  options: AdoptOptions<Name, F, P> = {},
): Adopted<Name, F, P> {
  return new Adopted(options, makerOf(factory))
}

function makerOf(factory: FactoryV1): Make {
  return async (connecting, rules, admit) => {
    const inner = await connect(factory, connecting)
    const calls = new Calls()
    const tools = new AdoptedTools({
      name: inner.serverInfo.name,
      era: connecting.era,
      rules,
      admit,
      list: lister(inner.link, connecting),
      call: (name, args, ctx) => called(inner.link, calls.paramsOf(name, args, contextIn(ctx.client)), ctx),
    })
    inner.link.onnotification = ({ method }) => {
      if (method === listChanged) tools.changed()
    }
    try {
      await tools.begin()
    } catch (error) {
      await inner.link.close()
      throw error
    }
    const remade: WithList = async (read) => {
      const { link } = await connect(factory, connecting)
      try {
        return await read(lister(link, connecting))
      } finally {
        await link.close()
      }
    }
    return adoptedServerOf(inner, tools, calls, connecting.era === 'stateless' ? remade : undefined)
  }
}

/** A server of version 1 and what it said of itself. */
interface Inner extends InitializeResult {
  readonly link: Link
}

async function connect(factory: FactoryV1, connecting: ConnectingClient): Promise<Inner> {
  const made = await factory()
  const server = 'server' in made ? made.server : made
  if ('_getRequestHandler' in server)
    throw unusable('The server', "it is one of the SDK's version 2. Use adopt from '@unfold-mcp/server'")
  if (server.transport !== undefined)
    throw unusable(
      'The server',
      'it is connected already. The factory must make a new one each time, and leave connecting to whoever serves it',
    )
  const link = new Link(connecting.sessionId)
  await made.connect(link.wire as unknown as Parameters<typeof made.connect>[0])
  const { client } = connecting
  const introduction = (await link.request(
    'initialize',
    {
      protocolVersion: client?.protocolVersion ?? LATEST_PROTOCOL_VERSION,
      capabilities: client?.capabilities ?? {},
      clientInfo: client?.clientInfo ?? { name: 'unfold', version: '1.0.0' },
    },
    { extra: extraOf(connecting) },
  )) as InitializeResult
  // Otherwise the client's own word that it is initialised is passed on.
  if (client === undefined) link.notify('notifications/initialized')
  if (introduction.capabilities.tools === undefined) {
    await link.close()
    throw unusable(introduction.serverInfo.name, 'it has no tools')
  }
  return { ...introduction, link }
}

function adoptedServerOf(inner: Inner, tools: AdoptedTools, calls: Calls, remade: WithList | undefined): AdoptedServer {
  const { link } = inner
  let face: Server | undefined
  return {
    name: tools.name,
    info: inner.serverInfo,
    entries: () => tools.entries(),
    subscribe: (changed) => tools.subscribe(changed),
    upToDate: () => tools.upToDate(),
    refresh: () => tools.changed(face?.transport === undefined ? remade : undefined),
    serve(runtime, scope, introduces) {
      face = faceOf(inner, runtime, scope, introduces)
      ownMethods(runtime, scope, face)
      calls.handle(runtime, scope, face, tools)
      join(face, inner, scope.settings.era, tools)
      return face
    },
    close: () => link.close(),
  }
}

/** The protocol server that clients of both eras speak to. */
function faceOf(inner: Inner, runtime: Runtime, scope: Scope, introduces: boolean): Server {
  const { serverInfo, capabilities, instructions, protocolVersion } = inner
  const ours = instructionsFor(runtime, scope)
  const text = [instructions, ours].filter(Boolean).join('\n\n')
  const { tasks: _, ...declared } = capabilities as ServerCapabilities & { tasks?: unknown }
  const { extensions, ...mine } = capabilitiesOf(runtime, introduces ? scope : undefined)
  const hint = cacheHint(runtime)
  return new Server(serverInfo, {
    jsonSchemaValidator,
    capabilities: { ...declared, ...mine, extensions: { ...declared.extensions, ...extensions } },
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

/** Passes on, in both directions, all that is not about tools. */
function join(face: Server, { link, capabilities }: Inner, era: Era, tools: AdoptedTools): void {
  for (const [capability, methods] of Object.entries(forwarded)) {
    if (!(capability in capabilities)) continue
    for (const method of methods ?? [])
      face.setRequestHandler(
        method as never,
        ((request: JSONRPCRequest, ctx: ServerContext) => forward(link, request, ctx)) as never,
      )
  }
  face.setNotificationHandler('notifications/roots/list_changed', ({ params }) =>
    link.notify('notifications/roots/list_changed', params),
  )
  face.oninitialized = () => link.notify('notifications/initialized')
  face.onclose = () => void link.close()
  link.onclose = () => void face.close()
  link.onnotification = (notification, about) => {
    if (notification.method === listChanged) tools.changed()
    else void tell(face, notification, era === 'session' ? about : (about ?? link.current), era).catch(() => undefined)
  }
  link.onrequest = (request, about, signal) => {
    if (era === 'session') return ask(face, link, request, about ?? link.current, signal)
    throw unaskable(request.method)
  }
}

function forward(link: Link, { method, params }: JSONRPCRequest, ctx: ServerContext): Promise<unknown> {
  return link.request(method, params, { ctx, signal: ctx.mcpReq.signal, extra: extraFrom(ctx) })
}

/** Tells the client, in the course of the request that it is about. */
async function tell(
  face: Server,
  { method, params }: JSONRPCNotification,
  about: ServerContext | undefined,
  era: Era,
): Promise<void> {
  const notification = { method, ...(params !== undefined && { params }) }
  if (era === 'session') return about === undefined ? face.notification(notification) : about.mcpReq.notify(notification)
  // On 2026-07-28 a request says itself which messages it wants to hear.
  if (method === 'notifications/message') {
    const { level, data, logger } = params as { level: LoggingLevel; data: unknown; logger?: string }
    return about?.mcpReq.log(level, data, logger)
  }
  return method === 'notifications/progress' ? about?.mcpReq.notify(notification) : face.notification(notification)
}

// The longest that a timer can wait: how long an answer may take is the asking server's to decide.
const noLimitMs = 2 ** 31 - 1

/** Asks the client of a session. */
function ask(
  face: Server,
  link: Link,
  { method, params }: JSONRPCRequest,
  about: ServerContext | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const progressToken = params?._meta?.progressToken
  const options = {
    signal,
    timeout: noLimitMs,
    ...(progressToken !== undefined && {
      onprogress: (progress: object) => link.notify('notifications/progress', { progressToken, ...progress }),
    }),
  }
  const question = { method, ...(params !== undefined && { params }) } as never
  return about === undefined ? face.request(question, options) : about.mcpReq.send(question, options)
}

function unaskable(method: string): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.MethodNotFound,
    `This server is one of the SDK's version 1, which on protocol revision 2026-07-28 can ask its client nothing: ${method} was not sent. Clients of earlier revisions can be asked; a server of version 2 can return inputRequired().`,
  )
}

/** Calls the server's tool with what the client sent; whatever comes of it leaves as it is. */
async function called(link: Link, params: object, { client, signal }: ToolContext): Promise<HandlerResult> {
  const mcp = contextIn(client)
  const extra = mcp === undefined ? {} : extraFrom(mcp)
  return (await link.request('tools/call', params, { ctx: mcp, signal, extra })) as HandlerResult
}

function lister(link: Link, connecting: ConnectingClient): (cursor: string | undefined) => Promise<unknown> {
  const extra = extraOf(connecting)
  return (cursor) => link.request('tools/list', cursor === undefined ? {} : { cursor }, { extra })
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
