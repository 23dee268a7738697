import {
  type InputRequiredResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { isClientError } from '@unfold-mcp/client'
import { nearest, nearestHint, printable } from '@unfold-mcp/core'
import { SdkPort, type Served } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import { UpstreamError } from '../upstreams/errors.ts'
import type { Upstreams } from '../upstreams/upstreams.ts'
import type { DocumentCapabilities } from './document-list.ts'
import type { Documents, Routed } from './documents.ts'
import type { Exchanges } from './exchanges.ts'
import type { ProxiedRequest } from './proxied-request.ts'
import type { Subscriptions } from './subscriptions.ts'

export interface Handlers {
  readonly documents: Documents
  readonly subscriptions: Subscriptions
  readonly exchanges: Exchanges
  readonly upstreams: Upstreams
  /** What this client is told that there is. */
  readonly offers: DocumentCapabilities
  /** Whether this client can follow resources: in a session, or on a stream that tells which. */
  readonly canFollow: boolean
  /** Done when what was never read has been, or it takes too long. */
  readonly read: () => Promise<unknown>
}

/** Answers for prompts, resources and completions on a protocol server, as far as they are offered. */
export function register(mcp: McpServer, { era, principal }: Served, parts: Handlers): void {
  const { documents, subscriptions, exchanges, upstreams, offers, canFollow, read } = parts
  const client: Client | undefined = principal
  const { server } = mcp
  server.registerCapabilities({
    ...(offers.prompts && { prompts: { listChanged: true } }),
    ...(offers.resources && { resources: { listChanged: true, ...(offers.subscribe && canFollow && { subscribe: true }) } }),
    ...(offers.completions && { completions: {} }),
  })

  /** Has a server answer a request of this client. */
  const pass = (ctx: ServerContext, { server: name, own }: Routed<unknown>, { method, params }: Passed) => {
    const asked: ProxiedRequest = {
      server: name,
      what: `${method} ${own}`,
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
    return onTheWire(() =>
      exchanges.pass<object>(asked, async (relay, options) =>
        resultOf(name, await upstreams.request(name, method, params, { ...options, relay })),
      ),
    )
  }

  if (offers.prompts) {
    server.setRequestHandler('prompts/list', async ({ params }) => {
      refuseCursor(params?.cursor)
      await read()
      return { prompts: [...documents.shown(client).prompts.values()].map(({ shown }) => shown) }
    })
    server.setRequestHandler('prompts/get', async ({ params: { name, arguments: args } }, ctx) => {
      const { prompts } = documents.shown(client)
      const found = prompts.get(name) ?? unknown('prompt', name, prompts.keys())
      const params = { name: found.own, ...(args !== undefined && { arguments: args }) }
      return (await pass(ctx, found, { method: 'prompts/get', params })) as never
    })
  }
  if (offers.resources) {
    server.setRequestHandler('resources/list', async ({ params }) => {
      refuseCursor(params?.cursor)
      await read()
      return { resources: [...documents.shown(client).resources.values()].map(({ shown }) => shown) }
    })
    server.setRequestHandler('resources/templates/list', async ({ params }) => {
      refuseCursor(params?.cursor)
      await read()
      return { resourceTemplates: [...documents.shown(client).templates.values()].map(({ shown }) => shown) }
    })
    server.setRequestHandler('resources/read', async ({ params: { uri } }, ctx) => {
      const owner = documents.ownerOf(client, uri) ?? noResource(uri)
      const result = await pass(ctx, owner, { method: 'resources/read', params: { uri: owner.own } })
      return readdressed(result, owner.own, uri) as never
    })
  }
  // 2026-07-28 has streams for that.
  if (offers.subscribe && era === 'session') {
    server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
      const owner = documents.ownerOf(client, uri) ?? noResource(uri)
      if (!subscriptions.hasRoomFor(mcp))
        throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'You follow too many resources. Unsubscribe from some first.')
      await onTheWire(() => subscriptions.add(mcp, owner, uri))
      return {}
    })
    server.setRequestHandler('resources/unsubscribe', async ({ params: { uri } }) => {
      const owner = documents.ownerOf(client, uri)
      if (owner !== undefined) await onTheWire(() => subscriptions.remove(mcp, owner))
      return {}
    })
  }
  if (offers.completions)
    server.setRequestHandler('completion/complete', async ({ params: { ref, ...rest } }, ctx) => {
      const { prompts, templates } = documents.shown(client)
      const owner =
        ref.type === 'ref/prompt'
          ? (prompts.get(ref.name) ?? unknown('prompt', ref.name, prompts.keys()))
          : (templates.get(ref.uri) ?? documents.ownerOf(client, ref.uri) ?? noResource(ref.uri))
      const own = ref.type === 'ref/prompt' ? { ...ref, name: owner.own } : { ...ref, uri: owner.own }
      if (upstreams.get(owner.server)?.connection?.capabilities.completions === undefined) return { completion: { values: [] } }
      return (await pass(ctx, owner, { method: 'completion/complete', params: { ref: own, ...rest } })) as never
    })
}

interface Passed {
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

function resultOf(server: string, answer: unknown): object | InputRequiredResult {
  if (typeof answer === 'object' && answer !== null) return answer
  throw new UpstreamError(server, 'failed', 'answered with what is no result.')
}

/** What was read is named by the address that the client asked for. */
function readdressed(result: object, own: string, uri: string): object {
  if (own === uri || !('contents' in result) || !Array.isArray(result.contents)) return result
  const contents = result.contents.map((each: unknown) =>
    typeof each === 'object' && each !== null && 'uri' in each && each.uri === own ? { ...each, uri } : each,
  )
  return { ...result, contents }
}

function refuseCursor(cursor: string | undefined): void {
  if (cursor === undefined) return
  const message = 'There is one page only: list without a cursor.'
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message, {
    reason: 'invalid_cursor',
    cursor: printable(cursor),
  })
}

function unknown(what: string, name: string, known: Iterable<string>): never {
  const near = nearest(name, [...known]).map((each) => printable(each))
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no ${what} "${printable(name)}".${nearestHint(near)}`)
}

function noResource(uri: string): never {
  const message = `There is no resource "${printable(uri)}" here. List the resources to see what there is.`
  throw new ResourceNotFoundError(printable(uri, 1_000), message)
}

/** A failure of a server as the client gets it: with the server's own code where it answered, in words where it did not. */
async function onTheWire<T>(work: () => Promise<T>): Promise<T> {
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
