import {
  classifyInboundRequest,
  type InboundClassificationOutcome,
  type InboundLadderRejection,
  isJsonContentType,
} from '@modelcontextprotocol/server'
import { Failure, isFailure, printable, type Reason, reasons } from '@unfold-mcp/core'
import { checkSize, checkText } from '../catalog/message-limits.ts'
import { malformedRequest } from '../operations/params.ts'
import { type Branch, Branches } from '../protocol/branches.ts'
import { isOfSession } from '../protocol/era.ts'
import type { Resumption } from '../protocol/session-http.ts'
import type { SessionClient, SessionLimits } from '../protocol/sessions.ts'
import type { DocumentNotices, ListeningStream } from '../protocol/stateless.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { runtimeOf, type Servable } from '../runtime/servable.ts'
import { emptyView, viewOfAddress } from '../scope/url-view.ts'
import type { Principal } from '../tool/principal.ts'
import { errorMessage } from '../tool/report.ts'
import { errorReply, failureReply, idOf, wellFormed } from '../wire/errors.ts'
import { type Exchange, exchangeOf, isWhole, type Reply, type RequestHead, responseOf } from '../wire/exchange.ts'
import { type OriginRules, refusedOrigin } from './origin.ts'

/** A principal, nobody in particular, or a refusal to send as it is. */
export type Identified<P extends Principal = Principal> = P | undefined | Response

/** Who may ask, and how much of everything one server takes. */
export interface HandlerOptions<P extends Principal = Principal> extends OriginRules {
  /** Who is asking: a principal, nobody in particular, or a refusal to send as it is. */
  readonly authenticate?: (request: Request) => Identified<P> | Promise<Identified<P>>
  /** The same from the method, the address and the headers alone, which costs less. It is asked in place of `authenticate`. */
  readonly identify?: (head: RequestHead) => Identified<P> | Promise<Identified<P>>
  /** Which toolbox a principal is served, where not all are served the same one. Limits hold for all toolboxes together. */
  readonly servedTo?: (principal: P | undefined) => Servable<P>
  readonly maxBodyBytes?: number
  readonly sessions?: Partial<SessionLimits> & Resumption
  /** The most `subscriptions/listen` streams at a time. */
  readonly maxSubscriptions?: number
  /** Told of each stream on which a 2026-07-28 client hears of changes; what it returns is called when the stream ends. */
  readonly onListen?: (stream: ListeningStream) => (() => void) | undefined
  readonly onerror?: (error: Error) => void
  /** The clock for idle sessions. */
  readonly now?: () => number
}

/** A served toolbox as a web-standard handler: mount `fetch` in Hono, Express, Fastify or a worker. */
export interface Handler extends AsyncDisposable {
  fetch(request: Request): Promise<Response>
  /** The same for a server that reads requests itself. */
  readonly answer: (exchange: Exchange) => Promise<Reply>
  readonly sessionCount: number
  /** Who has a session now. */
  sessions(): readonly SessionClient[]
  /** How many `subscriptions/listen` streams are open. */
  readonly subscriptionCount: number
  /** Tells 2026-07-28 clients of changes in what `extend` serves. Sessions hear of them from the SDK's own servers. */
  readonly notify: DocumentNotices
  /** Ends idle sessions now; done by itself every minute. */
  sweep(): Promise<void>
  /** Ends the sessions, streams and plain calls of those who may not be here any more. */
  dismiss(whose: (principal: Principal | undefined) => boolean): Promise<void>
  /** Ends the sessions, streams and plain calls of a toolbox that `servedTo` does not return any more. */
  forget(served: Servable<never>): Promise<void>
  /** Ends every session and stream. */
  close(): Promise<void>
}

const defaults = { maxBodyBytes: 4 * 1024 * 1024, maxSubscriptions: 1_024, sessions: { max: 10_000, idleMs: 30 * 60_000 } }

/** Serves a toolbox, an adopted server or a decorated instance to clients of both protocol eras over HTTP. */
export function createHandler<P extends Principal = Principal>(served: Servable<P>, options: HandlerOptions<P> = {}): Handler {
  runtimeOf(served).scopes.checkView(emptyView, undefined)
  const onerror = options.onerror ?? (() => undefined)
  const branches = new Branches({
    sessions: { ...defaults.sessions, ...options.sessions },
    now: options.now ?? (() => performance.now()),
    maxSubscriptions: options.maxSubscriptions ?? defaults.maxSubscriptions,
    onerror,
    onListen: options.onListen ?? (() => undefined),
  })
  const main = branches.of(served)
  // Its principals come from `authenticate` of the same options, whose type the compiler has checked.
  const servedTo = options.servedTo as HandlerOptions['servedTo']
  const branchOf = (principal: Principal | undefined): Branch =>
    servedTo === undefined ? main : branches.of(servedTo(principal))
  const edge: Edge = { main, branchOf, options }
  const sweeper = setInterval(() => void branches.sweep(), 60_000)
  if (typeof sweeper === 'object') sweeper.unref()

  const answer = async (exchange: Exchange): Promise<Reply> => {
    try {
      return await answerExchange(edge, exchange)
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(errorMessage(error))
      // Nobody expected this one; without a word here its author would search in vain.
      if (options.onerror === undefined) console.error('[unfold] A request could not be answered:', failure)
      else onerror(failure)
      const message = 'The server failed while answering. It goes on; the request may be tried again.'
      return failureReply(500, new Failure('internal_error', message, { problem: 'unexpected' }), { code: -32603 })
    }
  }
  const close = async (): Promise<void> => {
    clearInterval(sweeper)
    await branches.close()
  }
  const notify = (notice: (notices: DocumentNotices) => void): void => {
    for (const { stateless } of branches.all()) notice(stateless.notify)
  }
  return {
    answer,
    async fetch(request) {
      const reply = await answer(exchangeOf(request))
      return isWhole(reply) ? responseOf(reply) : reply
    },
    get sessionCount() {
      return branches.all().reduce((sum, { sessions }) => sum + sessions.size, 0)
    },
    sessions: () => branches.all().flatMap(({ sessions }) => sessions.clients()),
    get subscriptionCount() {
      return branches.all().reduce((sum, { stateless }) => sum + stateless.size, 0)
    },
    notify: {
      promptsChanged: (to) => notify((notices) => notices.promptsChanged(to)),
      resourcesChanged: (to) => notify((notices) => notices.resourcesChanged(to)),
      resourceUpdated: (uri, to) => notify((notices) => notices.resourceUpdated(uri, to)),
    },
    sweep: () => branches.sweep(),
    async dismiss(whose) {
      await Promise.all(branches.all().flatMap(({ sessions, stateless }) => [sessions.dismiss(whose), stateless.dismiss(whose)]))
    },
    forget: (each) => branches.forget(each),
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Edge {
  readonly main: Branch
  readonly branchOf: (principal: Principal | undefined) => Branch
  readonly options: Omit<HandlerOptions, 'servedTo'>
}

async function answerExchange({ main, branchOf, options }: Edge, exchange: Exchange): Promise<Reply> {
  const refused = refusedOrigin(exchange, options) ?? refusedMethod(exchange)
  if (refused !== undefined) return refused
  const read =
    exchange.method === 'POST'
      ? await readBody(main.runtime, exchange, options.maxBodyBytes ?? defaults.maxBodyBytes)
      : { body: undefined }
  if ('reply' in read) return read.reply
  const { body } = read
  const identified = options.identify === undefined ? options.authenticate?.(exchange.request()) : options.identify(exchange)
  const principal = identified instanceof Promise ? await identified : identified
  if (principal instanceof Response) return principal
  try {
    const { sessions, stateless } = branchOf(principal)
    const view = viewOfAddress(exchange.url)
    const route = isOfSession(exchange, body) ? ({ kind: 'legacy' } as const) : routeOf(exchange, body)
    if (route.kind === 'reject') return rejected(route, body)
    const malformed = malformedRequest(body)
    // A session-era client takes any other status for a failure of the transport.
    if (malformed !== undefined) return failureReply(route.kind === 'modern' ? 400 : 200, malformed, { id: idOf(body) })
    if (route.kind === 'modern') return await stateless.answer({ exchange, route, body, principal, view })
    return await sessions.answer({ exchange, body, principal, view })
  } catch (error) {
    // What only the operator can mend does not cross the wire.
    if (!isFailure(error) || reasons[error.reason] === 'operator') throw error
    return failureReply(400, error, { id: idOf(body) })
  }
}

/** The era that a request belongs to, by its headers and its body. */
function routeOf(exchange: Exchange, body: unknown): InboundClassificationOutcome {
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
    // A body that breaks off is no failure of ours either.
    const bytes = await exchange.body(limit)
    if (bytes === undefined) {
      const failure = new Failure('body_too_large', `The request is larger than ${limit} bytes. Send less at once.`, { limit })
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
    if (isFailure(error)) return { reply: failureReply(400, error, { id: idOf(body) }) }
    const problem = printable(errorMessage(error))
    const failure = new Failure('invalid_json', `The body is not JSON in UTF-8: ${problem}. Send one JSON object.`, { problem })
    return { reply: failureReply(400, failure, { code: -32700 }) }
  }
}

// Bytes that are no text would otherwise be replaced, and a tool would be called with something that nobody sent.
const utf8 = new TextDecoder('utf-8', { fatal: true })

const maxBatch = 100

// The SDK has the same limit, but looks at every message before it counts them.
function checkBatch(body: unknown): void {
  if (!Array.isArray(body) || body.length <= maxBatch) return
  const problem = `A batch holds at most ${maxBatch} messages, and this one has ${body.length}`
  throw new Failure('invalid_request', `${problem}. Send them in several.`, { problem })
}

const methods = ['GET', 'POST', 'DELETE']

function refusedMethod({ method }: Exchange): Reply | undefined {
  if (methods.includes(method)) return undefined
  const failure = new Failure('unsupported_method', `Clients use ${methods.join(', ')} here, not ${printable(method)}.`, {
    method: printable(method),
    allowed: methods,
  })
  return failureReply(405, failure, { code: -32000, headers: { allow: methods.join(', ') } })
}

// What the SDK finds wrong with a request before any server sees it, by the codes of the protocol.
const reasonsByCode: { readonly [code: number]: Reason } = {
  [-32600]: 'invalid_request',
  [-32602]: 'invalid_params',
  [-32020]: 'header_mismatch',
}

function rejected({ httpStatus, code, message, data }: InboundLadderRejection, body: unknown): Reply {
  const reason = reasonsByCode[code]
  const known = reason === undefined ? data : { reason, problem: message, ...(data as object | undefined) }
  const next = code === -32600 ? `. ${wellFormed}` : ''
  return errorReply(httpStatus, { code, message: `${message}${next}`, data: known }, { id: idOf(body) })
}

/** A refusal for `authenticate` to return: the client should come back with a token. */
export function unauthorized(
  message = 'This server wants to know who asks. Send a valid token: Authorization: Bearer <token>.',
): Response {
  const failure = new Failure('unauthorized', message, { scheme: 'Bearer' })
  return responseOf(failureReply(401, failure, { code: -32000, headers: { 'www-authenticate': 'Bearer' } }))
}
