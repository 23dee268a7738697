import {
  classifyInboundRequest,
  isJsonContentType,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import { Failure, isFailure, printable } from '@unfold-mcp/core'
import type { Principal } from '../principal.ts'
import { checkSize } from '../runtime/limits.ts'
import { malformedCall } from '../runtime/params.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { emptyView, type UrlView, viewOfUrl } from '../runtime/url-view.ts'
import { runtimeOf } from '../servable.ts'
import { errorReply, failureReply, idOf } from './errors.ts'
import { type Exchange, exchangeOf, isText, type Reply } from './exchange.ts'
import { type Resumption, type SessionLimits, Sessions } from './sessions.ts'
import { type DocumentNotices, Stateless } from './stateless.ts'

/** Who may ask, and how much of everything one server takes. */
export interface HandlerOptions {
  /** Who is asking: a principal, nobody in particular, or a refusal to send as it is. */
  readonly authenticate?: (request: Request) => Principal | undefined | Response | Promise<Principal | undefined | Response>
  /** Host names that requests may name; loopback ones by default, `any` to leave the check to whatever stands in front. */
  readonly allowedHosts?: readonly string[] | 'any'
  /** Origins that browsers may send requests from; loopback ones by default. Requests without an origin are let through. */
  readonly allowedOrigins?: readonly string[] | 'any'
  readonly maxBodyBytes?: number
  readonly sessions?: Partial<SessionLimits> & Resumption
  /** The most `subscriptions/listen` streams at a time. */
  readonly maxSubscriptions?: number
  readonly onerror?: (error: Error) => void
  /** The clock for idle sessions. */
  readonly now?: () => number
}

/** A served toolbox as a web-standard handler: mount `fetch` in Hono, Express, Fastify or a worker. */
export interface Handler extends AsyncDisposable {
  fetch(request: Request): Promise<Response>
  /** The same for a server that reads requests itself. */
  answer(exchange: Exchange): Promise<Reply>
  readonly sessionCount: number
  /** Tells 2026-07-28 clients of changes in what `extend` serves. Sessions hear of them from the SDK's own servers. */
  readonly notify: DocumentNotices
  /** Ends idle sessions now; done by itself every minute. */
  sweep(): Promise<void>
  /** Ends every session and stream. */
  close(): Promise<void>
}

const defaults = { maxBodyBytes: 4 * 1024 * 1024, maxSubscriptions: 1_024, sessions: { max: 10_000, idleMs: 30 * 60_000 } }

/** Serves a toolbox, an adopted server or a decorated instance to clients of both protocol eras over HTTP. */
export function createHandler(served: object, options: HandlerOptions = {}): Handler {
  const runtime = runtimeOf(served)
  const now = options.now ?? (() => performance.now())
  const sessions = new Sessions(runtime, { ...defaults.sessions, ...options.sessions }, now)
  const onerror = options.onerror ?? (() => undefined)
  const stateless = new Stateless(runtime, { maxSubscriptions: options.maxSubscriptions ?? defaults.maxSubscriptions, onerror })
  const edge: Edge = { runtime, sessions, stateless, options }
  const sweeper = setInterval(() => void sessions.sweep(), 60_000)
  if (typeof sweeper === 'object') sweeper.unref()

  const answer = async (exchange: Exchange): Promise<Reply> => {
    try {
      return await answerExchange(edge, exchange)
    } catch (error) {
      onerror(error instanceof Error ? error : new Error(String(error)))
      return errorReply(500, {
        code: -32603,
        message: 'The server failed while answering. It goes on; the request may be tried again.',
      })
    }
  }
  const close = async (): Promise<void> => {
    clearInterval(sweeper)
    await Promise.all([sessions.close(), stateless.close()])
  }
  return {
    answer,
    async fetch(request) {
      const reply = await answer(exchangeOf(request))
      return isText(reply) ? new Response(reply.text, { status: reply.status, headers: reply.headers }) : reply
    },
    get sessionCount() {
      return sessions.size
    },
    notify: stateless.notify,
    sweep: () => sessions.sweep(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Edge {
  readonly runtime: Runtime
  readonly sessions: Sessions
  readonly stateless: Stateless
  readonly options: HandlerOptions
}

async function answerExchange({ runtime, sessions, stateless, options }: Edge, exchange: Exchange): Promise<Reply> {
  const foreign = refusedOrigin(exchange, options)
  if (foreign !== undefined) return foreign
  const read =
    exchange.method === 'POST'
      ? await readBody(runtime, exchange, options.maxBodyBytes ?? defaults.maxBodyBytes)
      : { body: undefined }
  if ('reply' in read) return read.reply
  const { body } = read
  const principal = await options.authenticate?.(exchange.request())
  if (principal instanceof Response) return principal
  try {
    const view = urlViewOf(exchange.url)
    const route = classifyInboundRequest({
      httpMethod: exchange.method,
      protocolVersionHeader: exchange.header('mcp-protocol-version'),
      mcpMethodHeader: exchange.header('mcp-method'),
      mcpNameHeader: exchange.header('mcp-name'),
      ...(body !== undefined && { body }),
    } as Parameters<typeof classifyInboundRequest>[0])
    if (route.kind === 'reject') {
      return errorReply(route.httpStatus, { code: route.code, message: route.message, data: route.data }, { id: idOf(body) })
    }
    const malformed = malformedCall(body)
    // A session-era client takes any other status for a failure of the transport.
    if (malformed !== undefined) return failureReply(route.kind === 'modern' ? 400 : 200, malformed, { id: idOf(body) })
    if (route.kind === 'modern') return await stateless.answer({ exchange, route, body, principal, view })
    return await sessions.answer({ exchange, body, principal, view })
  } catch (error) {
    if (isFailure(error)) return failureReply(400, error, { id: idOf(body) })
    throw error
  }
}

function urlViewOf(url: string): UrlView {
  const start = url.indexOf('?')
  return start === -1 ? emptyView : viewOfUrl(new URLSearchParams(url.slice(start + 1).replace(/#.*$/u, '')))
}

async function readBody(runtime: Runtime, exchange: Exchange, limit: number): Promise<{ body: unknown } | { reply: Reply }> {
  if (!isJsonContentType(exchange.header('content-type') ?? null)) {
    return {
      reply: errorReply(415, { code: -32000, message: 'The body must be JSON: send it with Content-Type: application/json.' }),
    }
  }
  const text = await exchange.body(limit)
  if (text === undefined) {
    const failure = new Failure('body_too_large', `The request is larger than ${limit} bytes. Send less at once.`, { limit })
    return { reply: failureReply(413, failure, { code: -32000 }) }
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { reply: errorReply(400, { code: -32700, message: 'The body is not valid JSON.' }) }
  }
  try {
    checkSize(body, runtime.declaration.messageLimits)
  } catch (error) {
    if (isFailure(error)) return { reply: failureReply(400, error, { id: idOf(body) }) }
    throw error
  }
  return { body }
}

const loopbackHosts = localhostAllowedHostnames()
const loopbackOrigins = localhostAllowedOrigins()

/** Keeps out pages of other sites: a browser that was tricked into asking names a host or an origin that is not ours. */
function refusedOrigin(
  exchange: Exchange,
  { allowedHosts = loopbackHosts, allowedOrigins = loopbackOrigins }: HandlerOptions,
): Reply | undefined {
  const host = exchange.header('host') ?? hostOf(exchange.url)
  if (allowedHosts !== 'any' && !validateHostHeader(host, [...allowedHosts]).ok) {
    const message = `This server is not reached by the name "${printable(host)}". If it should be, add that name to allowedHosts.`
    return failureReply(403, new Failure('forbidden_host', message, { host: printable(host) }), { code: -32000 })
  }
  const origin = exchange.header('origin')
  if (origin !== undefined && allowedOrigins !== 'any' && !validateOriginHeader(origin, [...allowedOrigins]).ok) {
    const message = `Pages of "${printable(origin)}" may not use this server. If they should, add that host to allowedOrigins.`
    return failureReply(403, new Failure('forbidden_origin', message, { origin: printable(origin) }), { code: -32000 })
  }
  return undefined
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')

/** A refusal for `authenticate` to return: the client should come back with a token. */
export function unauthorized(
  message = 'This server wants to know who asks. Send a valid token: Authorization: Bearer <token>.',
): Response {
  const { status, headers, text } = failureReply(401, new Failure('unauthorized', message, { scheme: 'Bearer' }), {
    code: -32000,
    headers: { 'www-authenticate': 'Bearer' },
  })
  return new Response(text, { status, headers })
}
