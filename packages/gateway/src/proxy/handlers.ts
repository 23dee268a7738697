import {
  type InputRequiredResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { isClientError } from '@unfold-mcp/client'
import { nearest, nearestHint, printable, type Reason } from '@unfold-mcp/core'
import { SdkPort, type Served } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import { callerPath } from '../access/caller-path.ts'
import { serverSlug } from '../names/naming.ts'
import { UpstreamError } from '../upstreams/errors.ts'
import type { Upstreams } from '../upstreams/upstreams.ts'
import type { DocumentCapabilities } from './document-list.ts'
import type { Documents } from './documents.ts'
import type { Exchanges } from './exchanges.ts'
import type { ProxiedRequest } from './proxied-request.ts'
import type { AmbiguousRoute, ResourceRoute } from './resource-routes.ts'
import type { Subscriptions } from './subscriptions.ts'
import { prefixedUri } from './uris.ts'

export interface Handlers {
  readonly documents: Documents
  readonly subscriptions: Subscriptions
  readonly exchanges: Exchanges
  readonly upstreams: Upstreams
  /** Capabilities declared to this client. */
  readonly capabilities: DocumentCapabilities
  /** True if the client can subscribe to resources. */
  readonly canSubscribe: boolean
  /** Returns a result of a server as clients may see it. */
  readonly inspect: (server: string, what: string, result: object) => Promise<object>
  /** Resolves when the lists have been read once, or the wait is over. */
  readonly read: () => Promise<unknown>
}

/** Registers handlers for prompts, resources and completions, according to the capabilities. */
export function register(mcp: McpServer, { era, scope, principal, share }: Served, parts: Handlers): void {
  const { documents, subscriptions, exchanges, upstreams, capabilities, canSubscribe, inspect, read } = parts
  const client: Client | undefined = principal
  const { server } = mcp
  server.registerCapabilities({
    ...(capabilities.prompts && { prompts: { listChanged: true } }),
    ...(capabilities.resources && {
      resources: { listChanged: true, ...(capabilities.subscribe && canSubscribe && { subscribe: true }) },
    }),
    ...(capabilities.completions && { completions: {} }),
  })

  const forward = (ctx: ServerContext, { server: name, original }: ResourceRoute, { method, params }: ForwardedRequest) => {
    const request: ProxiedRequest = {
      server: name,
      what: `${method} ${original}`,
      client,
      era,
      port: new SdkPort(ctx),
      envelope: ctx.mcpReq.envelope,
      inputResponses: ctx.mcpReq.inputResponses,
      requestState: ctx.mcpReq.requestState() as string | undefined,
      capabilities: server.getClientCapabilities(),
      signal: ctx.mcpReq.signal,
      progress: (progress, total, message) => report(ctx, { progress, total, message }),
    }
    const caller = callerPath({ share, era, scope, envelope: ctx.mcpReq.envelope })
    return asProtocolError(() =>
      exchanges.run<object>(request, async (relay, options) =>
        resultOf(name, await upstreams.request(name, method, params, { ...options, relay, caller })),
      ),
    )
  }

  if (capabilities.prompts) {
    server.setRequestHandler('prompts/list', async ({ params }) => {
      refuseCursor(params?.cursor)
      await read()
      return { prompts: [...documents.view(client).prompts.values()].map(({ exposed }) => exposed) }
    })
    server.setRequestHandler('prompts/get', async ({ params: { name, arguments: args } }, ctx) => {
      const { prompts } = documents.view(client)
      const prompt = prompts.get(name) ?? unknown('prompt', name, prompts.keys())
      const params = { name: prompt.original, ...(args !== undefined && { arguments: args }) }
      return (await inspect(prompt.server, name, await forward(ctx, prompt, { method: 'prompts/get', params }))) as never
    })
  }
  if (capabilities.resources) {
    server.setRequestHandler('resources/list', async ({ params }) => {
      refuseCursor(params?.cursor)
      await read()
      return { resources: [...documents.view(client).resources.values()].map(({ exposed }) => exposed) }
    })
    server.setRequestHandler('resources/templates/list', async ({ params }) => {
      refuseCursor(params?.cursor)
      await read()
      return { resourceTemplates: [...documents.view(client).templates.values()].map(({ exposed }) => exposed) }
    })
    server.setRequestHandler('resources/read', async ({ params: { uri } }, ctx) => {
      const owner = resolved(documents.route(client, uri), uri)
      const result = await forward(ctx, owner, { method: 'resources/read', params: { uri: owner.original } })
      return readdressed(await inspect(owner.server, uri, result), owner.original, uri) as never
    })
  }
  // 2026-07-28 uses subscriptions/listen instead.
  if (capabilities.subscribe && era === 'session') {
    server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
      const owner = resolved(documents.route(client, uri), uri)
      if (!subscriptions.hasRoomFor({ key: mcp, share }))
        throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Too many resource subscriptions. Unsubscribe from some first.')
      await asProtocolError(() => subscriptions.add({ key: mcp, share }, owner, uri))
      return {}
    })
    server.setRequestHandler('resources/unsubscribe', async ({ params: { uri } }) => {
      // Not routed again: the resource may have moved or become ambiguous since.
      await asProtocolError(() => subscriptions.removeUri(mcp, uri))
      return {}
    })
  }
  if (capabilities.completions)
    server.setRequestHandler('completion/complete', async ({ params: { ref, ...rest } }, ctx) => {
      const { prompts } = documents.view(client)
      const owner =
        ref.type === 'ref/prompt'
          ? (prompts.get(ref.name) ?? unknown('prompt', ref.name, prompts.keys()))
          : resolved(documents.route(client, ref.uri, 'templates'), ref.uri)
      const original = ref.type === 'ref/prompt' ? { ...ref, name: owner.original } : { ...ref, uri: owner.original }
      if (upstreams.get(owner.server)?.connection?.capabilities.completions === undefined) return { completion: { values: [] } }
      return (await forward(ctx, owner, { method: 'completion/complete', params: { ref: original, ...rest } })) as never
    })
}

interface ForwardedRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

interface Report {
  readonly progress: number
  readonly total: number | undefined
  readonly message: string | undefined
}

async function report({ mcpReq }: ServerContext, { progress, total, message }: Report): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  const params = { progressToken, progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
  await mcpReq.notify({ method: 'notifications/progress', params })
}

function resultOf(server: string, result: unknown): object | InputRequiredResult {
  if (typeof result === 'object' && result !== null) return result
  throw new UpstreamError(server, 'failed', 'returned an invalid result.')
}

// The contents carry the URI that the client requested.
function readdressed(result: object, original: string, uri: string): object {
  if (original === uri || !('contents' in result) || !Array.isArray(result.contents)) return result
  const contents = result.contents.map((each: unknown) =>
    typeof each === 'object' && each !== null && 'uri' in each && each.uri === original ? { ...each, uri } : each,
  )
  return { ...result, contents }
}

function refuseCursor(cursor: string | undefined): void {
  if (cursor === undefined) return
  const message = 'The list has a single page: list without a cursor.'
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message, {
    reason: 'invalid_cursor',
    cursor: printable(cursor),
  })
}

function unknown(what: string, name: string, known: Iterable<string>): never {
  const near = nearest(name, [...known]).map((each) => printable(each))
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown ${what} "${printable(name)}".${nearestHint(near)}`)
}

/** Returns the server of a resource; throws if there is none, or more than one. */
function resolved(route: ResourceRoute | AmbiguousRoute | undefined, uri: string): ResourceRoute {
  if (route === undefined) return noResource(uri)
  return 'server' in route ? route : ambiguousResource(uri, route.ambiguous)
}

function ambiguousResource(uri: string, names: readonly string[]): never {
  const servers = names.map((name) => printable(name))
  const uris = names.map((name) => printable(prefixedUri(serverSlug(name), uri), 1_000))
  const message =
    `Several servers have the resource "${printable(uri)}": ${servers.map((name) => `"${name}"`).join(', ')}. ` +
    `Read it as ${uris.join(' or ')}. The operator can choose one with "preferResources" in unfold.json.`
  const reason: Reason = 'ambiguous_resource'
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message, { reason, uri: printable(uri, 1_000), servers, uris })
}

function noResource(uri: string): never {
  const message = `Unknown resource "${printable(uri)}". Use resources/list to see the available ones.`
  throw new ResourceNotFoundError(printable(uri, 1_000), message)
}

/** Rethrows a server's error with its own code, and other failures as internal errors. */
async function asProtocolError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const cause = error instanceof UpstreamError ? error.cause : error
    if (isClientError(cause, 'protocol') && cause.details.code !== undefined) {
      const { code, problem, data } = cause.details
      throw new ProtocolError(code, problem, data)
    }
    if (error instanceof UpstreamError || isClientError(error))
      throw new ProtocolError(ProtocolErrorCode.InternalError, error.message)
    throw error
  }
}
