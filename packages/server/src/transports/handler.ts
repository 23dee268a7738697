import {
  classifyInboundRequest,
  type InboundClassificationOutcome,
  type InboundLadderRejection,
  isJsonContentType,
} from '@modelcontextprotocol/server'
import { Failure, isFailure, printable, type Reason, reasons } from '@unfold-mcp/core'
import { checkSize, checkText } from '../catalog/message-limits.ts'
import { malformedRequest } from '../operations/params.ts'
import { type Endpoint, Endpoints } from '../protocol/endpoints.ts'
import { isSessionRequest } from '../protocol/era.ts'
import type { SessionClient } from '../protocol/session/session.ts'
import type { SessionsOptions } from '../protocol/session/sessions.ts'
import type { ChangeNotifier, SubscriptionStream } from '../protocol/stateless.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { runtimeOf, type Servable } from '../runtime/servable.ts'
import { emptyView, viewOfAddress } from '../scope/url-view.ts'
import type { Principal } from '../tool/principal.ts'
import { errorMessage } from '../tool/report.ts'
import { isLoopbackAddress, networkOf } from '../wire/address.ts'
import { errorReply, failureReply, requestFormatHint, requestIdOf } from '../wire/errors.ts'
import { type Exchange, isBuffered, type Reply, type RequestHead, toExchange, toResponse } from '../wire/exchange.ts'
import { type OriginRules, refusedOrigin } from './origin.ts'

/** The principal, `undefined` for an anonymous client, or a response that refuses the request. */
export type AuthResult<P extends Principal = Principal> = P | undefined | Response

/** Authentication and limits of an HTTP handler. */
export interface HandlerOptions<P extends Principal = Principal> extends OriginRules {
  /** Determines the principal of a request, or refuses it. Called before the body is read, and must not read it. */
  readonly authenticate?: (request: Request) => AuthResult<P> | Promise<AuthResult<P>>
  /** Used instead of `authenticate` if set. Gets only method, URL and headers, which is faster. */
  readonly identify?: (head: RequestHead) => AuthResult<P> | Promise<AuthResult<P>>
  /**
   * Returns the key of the client whose share of sessions, streams, searches and calls a request counts against. Default:
   * `principal:<id>`, for anonymous clients `address:<address>`, and none where the address is unknown or loopback.
   */
  readonly shareKey?: (head: RequestHead, principal: P | undefined) => string | undefined
  /** Selects the toolbox for a principal. Limits apply to all toolboxes together. */
  readonly servedTo?: (principal: P | undefined) => Servable<P>
  readonly maxBodyBytes?: number
  readonly sessions?: Partial<SessionsOptions>
  /** Maximum number of concurrent `subscriptions/listen` streams. */
  readonly maxSubscriptions?: number
  /** Called for each `subscriptions/listen` stream; the returned function is called when the stream ends. */
  readonly onListen?: (stream: SubscriptionStream) => (() => void) | undefined
  readonly onerror?: (error: Error) => void
  /** Clock for idle sessions, in milliseconds. */
  readonly now?: () => number
}

/** Web-standard handler of a toolbox: mount `fetch` in Hono, Express, Fastify or a worker. */
export interface Handler extends AsyncDisposable {
  fetch(request: Request): Promise<Response>
  /** Handles a request without converting it to a web-standard one. */
  readonly handle: (exchange: Exchange) => Promise<Reply>
  readonly sessionCount: number
  /** Returns the clients that have a session. */
  sessions(): readonly SessionClient[]
  /** Number of open `subscriptions/listen` streams. */
  readonly subscriptionCount: number
  /** Notifies 2026-07-28 clients of changes to prompts and resources. The SDK's servers notify sessions. */
  readonly notify: ChangeNotifier
  /** Ends idle sessions now; runs every minute by itself. */
  sweep(): Promise<void>
  /** Ends the sessions, streams and calls of matching principals. */
  disconnect(matches: (principal: Principal | undefined) => boolean): Promise<void>
  /** Ends the sessions, streams and calls of a toolbox that `servedTo` no longer returns. */
  remove(served: Servable<never>): Promise<void>
  /** Ends the streams on which clients wait for notifications, so that they open them on another replica. Calls go on. */
  handOver(): Promise<void>
  /** Ends every session and stream. */
  close(): Promise<void>
}

const defaults = { maxBodyBytes: 4 * 1024 * 1024, maxSubscriptions: 1_024, sessions: { max: 10_000, idleMs: 30 * 60_000 } }

/** Serves a toolbox, an adopted server or a decorated instance to clients of both protocol eras over HTTP. */
export function createHandler<P extends Principal = Principal>(served: Servable<P>, options: HandlerOptions<P> = {}): Handler {
  runtimeOf(served).scopes.checkView(emptyView, undefined)
  const onerror = options.onerror ?? (() => undefined)
  const endpoints = new Endpoints({
    sessions: { ...defaults.sessions, ...options.sessions },
    now: options.now ?? (() => performance.now()),
    maxSubscriptions: options.maxSubscriptions ?? defaults.maxSubscriptions,
    onerror,
    onListen: options.onListen ?? (() => undefined),
  })
  const main = endpoints.get(served)
  // The compiler has checked that `authenticate` returns the principals that `servedTo` takes.
  const servedTo = options.servedTo as HandlerOptions['servedTo']
  const endpointOf = (principal: Principal | undefined): Endpoint =>
    servedTo === undefined ? main : endpoints.get(servedTo(principal))
  const shareKey = (options.shareKey as HandlerOptions['shareKey']) ?? shareKeyOf
  const context: HandlerContext = { main, endpointOf, shareKey, options }
  const sweeper = setInterval(() => void endpoints.sweep(), 60_000)
  if (typeof sweeper === 'object') sweeper.unref()

  const handle = async (exchange: Exchange): Promise<Reply> => {
    try {
      return await handleExchange(context, exchange)
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(errorMessage(error))
      if (options.onerror === undefined) console.error('[unfold] Request failed:', failure)
      else onerror(failure)
      const message = 'The server failed to handle the request. Try again.'
      return failureReply(500, new Failure('internal_error', message, { problem: 'unexpected' }), { code: -32603 })
    }
  }
  const close = async (): Promise<void> => {
    clearInterval(sweeper)
    await endpoints.close()
  }
  const notify = (send: (notifier: ChangeNotifier) => void): void => {
    for (const { stateless } of endpoints.all()) send(stateless.notify)
  }
  return {
    handle,
    async fetch(request) {
      const reply = await handle(toExchange(request))
      return isBuffered(reply) ? toResponse(reply) : reply
    },
    get sessionCount() {
      return endpoints.all().reduce((sum, { sessions }) => sum + sessions.size, 0)
    },
    sessions: () => endpoints.all().flatMap(({ sessions }) => sessions.clients()),
    get subscriptionCount() {
      return endpoints.all().reduce((sum, { stateless }) => sum + stateless.size, 0)
    },
    notify: {
      promptsChanged: (to) => notify((notifier) => notifier.promptsChanged(to)),
      resourcesChanged: (to) => notify((notifier) => notifier.resourcesChanged(to)),
      resourceUpdated: (uri, to) => notify((notifier) => notifier.resourceUpdated(uri, to)),
    },
    sweep: () => endpoints.sweep(),
    async disconnect(matches) {
      await Promise.all(
        endpoints.all().flatMap(({ sessions, stateless }) => [sessions.disconnect(matches), stateless.disconnect(matches)]),
      )
    },
    remove: (toolbox) => endpoints.remove(toolbox),
    handOver: () => endpoints.handOver(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface HandlerContext {
  readonly main: Endpoint
  readonly endpointOf: (principal: Principal | undefined) => Endpoint
  readonly shareKey: NonNullable<HandlerOptions['shareKey']>
  readonly options: Omit<HandlerOptions, 'servedTo' | 'shareKey'>
}

async function handleExchange({ main, endpointOf, shareKey, options }: HandlerContext, exchange: Exchange): Promise<Reply> {
  const refused = refusedOrigin(exchange, options) ?? refusedMethod(exchange)
  if (refused !== undefined) return refused
  // Before the body is read, so that a client without a valid token cannot make the server hold one.
  const identified = options.identify === undefined ? options.authenticate?.(exchange.request()) : options.identify(exchange)
  const principal = identified instanceof Promise ? await identified : identified
  if (principal instanceof Response) return principal
  const read =
    exchange.method === 'POST'
      ? await readBody(main.runtime, exchange, options.maxBodyBytes ?? defaults.maxBodyBytes)
      : { body: undefined }
  if ('reply' in read) return read.reply
  const { body } = read
  try {
    const { sessions, stateless } = endpointOf(principal)
    const view = viewOfAddress(exchange.url)
    const share = shareKey(exchange, principal)
    const route = isSessionRequest(exchange, body) ? ({ kind: 'legacy' } as const) : classify(exchange, body)
    if (route.kind === 'reject') return rejectionReply(route, body)
    const malformed = malformedRequest(body)
    // Session-era clients treat any other status as a transport failure.
    if (malformed !== undefined) return failureReply(route.kind === 'modern' ? 400 : 200, malformed, { id: requestIdOf(body) })
    if (route.kind === 'modern') return await stateless.handle({ exchange, route, body, principal, share, view })
    return await sessions.handle({ exchange, body, principal, share, view })
  } catch (error) {
    // Errors that only the operator can fix are not sent to clients.
    if (!isFailure(error) || reasons[error.reason] === 'operator') throw error
    return failureReply(400, error, { id: requestIdOf(body) })
  }
}

const shareKeyOf = (head: RequestHead, principal: Principal | undefined): string | undefined =>
  principal === undefined ? addressShare(head) : `principal:${principal.id}`

/** Key for clients that are known only by address; `undefined` for clients on this machine, which cannot be told apart. */
export const addressShare = ({ address }: RequestHead): string | undefined =>
  address === undefined || isLoopbackAddress(address) ? undefined : `address:${networkOf(address)}`

function classify(exchange: Exchange, body: unknown): InboundClassificationOutcome {
  return classifyInboundRequest({
    httpMethod: exchange.method,
    protocolVersionHeader: exchange.header('mcp-protocol-version'),
    mcpMethodHeader: exchange.header('mcp-method'),
    mcpNameHeader: exchange.header('mcp-name'),
    ...(body !== undefined && { body }),
  } as Parameters<typeof classifyInboundRequest>[0])
}

async function readBody(runtime: Runtime, exchange: Exchange, limit: number): Promise<{ body: unknown } | { reply: Reply }> {
  if (!isJsonContentType(exchange.header('content-type') ?? null)) {
    const type = printable(exchange.header('content-type') ?? '')
    const message = 'The body must be JSON: send it with Content-Type: application/json.'
    return { reply: failureReply(415, new Failure('unsupported_media_type', message, { type }), { code: -32000 }) }
  }
  let body: unknown
  try {
    // Inside the try: an aborted upload is not a server error either.
    const bytes = await exchange.body(limit)
    if (bytes === undefined) {
      const failure = new Failure('body_too_large', `The request exceeds ${limit} bytes. Send less.`, { limit })
      return { reply: failureReply(413, failure, { code: -32000 }) }
    }
    const text = utf8.decode(bytes)
    checkText(text, runtime.declaration.messageLimits)
    body = JSON.parse(text)
    checkSize(body, runtime.declaration.messageLimits)
    checkBatch(body)
    return { body }
  } catch (error) {
    if (isFailure(error, 'invalid_request')) return { reply: failureReply(400, error, { code: -32600 }) }
    if (isFailure(error)) return { reply: failureReply(400, error, { id: requestIdOf(body) }) }
    const problem = printable(errorMessage(error))
    const failure = new Failure('invalid_json', `The body is not valid UTF-8 JSON: ${problem}. Send one JSON object.`, {
      problem,
    })
    return { reply: failureReply(400, failure, { code: -32700 }) }
  }
}

// Without `fatal`, invalid bytes would be replaced, and a tool would get arguments that nobody sent.
const utf8 = new TextDecoder('utf-8', { fatal: true })

const maxBatch = 100

// The SDK has the same limit, but parses every message before it counts them.
function checkBatch(body: unknown): void {
  if (!Array.isArray(body) || body.length <= maxBatch) return
  const problem = `A batch may have at most ${maxBatch} messages; this one has ${body.length}`
  throw new Failure('invalid_request', `${problem}. Split it.`, { problem })
}

const methods = ['GET', 'POST', 'DELETE']

function refusedMethod({ method }: Exchange): Reply | undefined {
  if (methods.includes(method)) return undefined
  const failure = new Failure('unsupported_method', `Method ${printable(method)} is not allowed. Use ${methods.join(', ')}.`, {
    method: printable(method),
    allowed: methods,
  })
  return failureReply(405, failure, { code: -32000, headers: { allow: methods.join(', ') } })
}

// Reasons for the errors of the SDK's request classification.
const reasonsByCode: { readonly [code: number]: Reason } = {
  [-32600]: 'invalid_request',
  [-32602]: 'invalid_params',
  [-32020]: 'header_mismatch',
}

function rejectionReply({ httpStatus, code, message, data }: InboundLadderRejection, body: unknown): Reply {
  const reason = reasonsByCode[code]
  const known = reason === undefined ? data : { reason, problem: message, ...(data as object | undefined) }
  const next = code === -32600 ? `. ${requestFormatHint}` : ''
  return errorReply(httpStatus, { code, message: `${message}${next}`, data: known }, { id: requestIdOf(body) })
}

/** Returns a 401 response, for `authenticate` to return. */
export function unauthorized(message = 'Authentication required. Send a valid token: Authorization: Bearer <token>.'): Response {
  const failure = new Failure('unauthorized', message, { scheme: 'Bearer' })
  return toResponse(failureReply(401, failure, { code: -32000, headers: { 'www-authenticate': 'Bearer' } }))
}
