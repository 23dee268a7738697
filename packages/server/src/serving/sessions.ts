import {
  type AuthInfo,
  type EventStore,
  isInitializeRequest,
  type JSONRPCRequest,
  type McpServer,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { Failure, isFailure, printable } from '@unfold-mcp/core'
import type { Principal } from '../principal.ts'
import { isInputRequired } from '../result.ts'
import { answer, type Call, protocolError } from '../runtime/calls.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../runtime/scope.ts'
import type { UrlView } from '../runtime/url-view.ts'
import { duplicateId, errorReply, failureReply, idOf } from './errors.ts'
import { type Exchange, isWhole, type Reply } from './exchange.ts'
import { askingAlongside, follow, lowLevel, protocolServer, sendListChanged } from './protocol.ts'
import { type CallParams, isPlainCall, leaveQuestion, sessionContext } from './quick-call.ts'
import { isListRequest, isWelcome, quickSessionList } from './quick-list.ts'
import { SessionTransport } from './session-transport.ts'

export interface SessionLimits {
  /** The most sessions at a time. */
  readonly max: number
  /** A session nobody used for this long, and that has no stream open, is ended. */
  readonly idleMs: number
}

/** How a client whose stream broke off goes on where it was; without an event store it starts anew. */
export interface Resumption {
  /** Keeps what the streams of one session carried. */
  readonly eventStore?: () => EventStore
  /** How long such a client is asked to wait before it comes back. */
  readonly retryMs?: number
}

/** A request of the session era, read and checked as far as the edge can. */
export interface SessionRequest {
  readonly exchange: Exchange
  readonly body: unknown
  readonly principal: Principal | undefined
  readonly view: UrlView
}

/** A client that has a session. */
export interface SessionClient {
  /** Not what the client sends to be known by: that is a secret. */
  readonly number: number
  /** What it says it is, as it says it. */
  readonly name: string | undefined
  readonly version: string | undefined
  readonly principal: Principal | undefined
  readonly sinceMs: number
  readonly idleMs: number
  /** Whether it has a stream open on which it hears of changes. */
  readonly isListening: boolean
}

interface SessionOptions {
  readonly number: number
  readonly now: number
  readonly closed: () => void
  readonly resumption: Resumption
}

// A client that never finishes the handshake would otherwise hold a place for as long as one that works.
const handshakeMs = 60_000

/** One session-era client over HTTP: its protocol server, its scope, and whether it is listening. */
class Session {
  readonly id: string
  readonly scope: Scope
  readonly #runtime: Runtime
  readonly #transport: SessionTransport
  readonly #server: Server | McpServer
  readonly #number: number
  readonly #begun: number
  #lastUsed: number
  #initialized = false
  /** Requests being answered and streams being read. */
  #open = 0
  readonly #isResumable: boolean
  #listening = false
  #owed = false

  constructor(id: string, runtime: Runtime, scope: Scope, { number, now, closed, resumption }: SessionOptions) {
    const { eventStore, retryMs } = resumption
    this.id = id
    this.scope = scope
    this.#runtime = runtime
    this.#number = number
    this.#begun = now
    this.#lastUsed = now
    this.#isResumable = eventStore !== undefined
    this.#transport = new SessionTransport({
      sessionIdGenerator: () => id,
      ...(eventStore !== undefined && { eventStore: eventStore() }),
      ...(retryMs !== undefined && { retryInterval: retryMs }),
    })
    this.#server = protocolServer(runtime, scope)
    follow(this.#server, {
      initialized: () => {
        this.#initialized = true
        runtime.announcer.attach(scope, (alongside) => this.#listChanged(alongside))
      },
      closed: () => {
        closed()
        void runtime.close(scope)
      },
    })
  }

  client(now: number): SessionClient {
    const says = lowLevel(this.#server).getClientVersion()
    return {
      number: this.#number,
      name: says?.name,
      version: says?.version,
      principal: this.scope.frame.principal,
      sinceMs: now - this.#begun,
      idleMs: now - this.#lastUsed,
      isListening: this.#listening,
    }
  }

  async connect(): Promise<void> {
    await this.#server.connect(this.#transport)
  }

  isIdle(now: number, idleMs: number): boolean {
    return this.#open === 0 && now - this.#lastUsed > (this.#initialized ? idleMs : Math.min(idleMs, handshakeMs))
  }

  async answer({ exchange, body, principal }: SessionRequest, now: number): Promise<Reply> {
    this.#lastUsed = now
    const quick = isListRequest(body) ? quickSessionList(this.#runtime, this.scope, exchange, body) : undefined
    if (quick !== undefined) return { ...quick, headers: { ...quick.headers, 'mcp-session-id': this.id } }
    const taken = this.#transport.taken(body)
    if (taken !== undefined) return failureReply(400, duplicateId(taken), { id: idOf(body), code: -32600 })
    this.#open++
    if (this.#isCall(exchange, body)) {
      const reply = await this.#call(exchange, body, principal).finally(() => this.#open--)
      return isWhole(reply) ? reply : this.#watched(reply)
    }
    const request = exchange.request()
    const auth = principal === undefined ? {} : { authInfo: authInfoOf(principal) }
    const response = await this.#transport
      .handle(request, body, { ...auth, ...(body !== undefined && { parsedBody: body }) })
      .finally(() => this.#open--)
    const listens = exchange.method === 'GET' && response.status === 200 && !this.#resumes(exchange)
    return listens ? this.#listen(response) : this.#watched(response)
  }

  async close(): Promise<void> {
    await this.#server.close()
  }

  #resumes(exchange: Exchange): boolean {
    return this.#isResumable && exchange.header('last-event-id') !== undefined
  }

  /** The client opened the stream on which it hears of changes; it is told of one that came before. */
  #listen(response: Response): Response {
    this.#listening = true
    if (this.#owed) {
      this.#owed = false
      void sendListChanged(this.#runtime, this.#server)
    }
    return this.#watched(response, () => {
      this.#listening = false
    })
  }

  /** A call of a tool, unless the SDK has something to say to it: a refusal, a challenge, or an event to come back to. */
  #isCall(exchange: Exchange, body: unknown): body is JSONRPCRequest {
    const isOurs = !this.#isResumable && this.scope.product === undefined
    return isOurs && isCallRequest(body) && isPlainCall(body.params ?? {}) && isWelcome(exchange)
  }

  #call(exchange: Exchange, message: JSONRPCRequest, principal: Principal | undefined): Promise<Reply> {
    const { id, params } = message
    const { name, arguments: args, _meta: meta } = params as unknown as CallParams
    const gone = (left: () => void): void => exchange.gone(left)
    const authInfo = principal === undefined ? undefined : authInfoOf(principal)
    return this.#transport.answer(id, { tool: name, gone }, async (controller) => {
      let context: ServerContext | undefined
      const call: Call = {
        name,
        arguments: args,
        meta,
        controller,
        context: () => {
          const around = { signal: controller.signal, sessionId: this.id, request: () => exchange.request(), authInfo }
          context ??= askingAlongside(sessionContext(lowLevel(this.#server), message, around))
          return context
        },
      }
      try {
        const result = await answer(this.#runtime, this.scope, call)
        if (!isInputRequired(result))
          return {
            result: lowLevel(this.#server).projectCallToolResult(result, this.#runtime.outputSchemaOf(this.scope, name)),
          }
        leaveQuestion(this.scope, id, result)
        return { left: message, with: { request: exchange.request(), ...(authInfo !== undefined && { authInfo }) } }
      } catch (error) {
        return { error: errorOf(isFailure(error) ? protocolError(error) : error) }
      }
    })
  }

  /** The response, counted as open until its body ends however it ends. */
  #watched(response: Response, ended: () => void = () => undefined): Response {
    if (response.body === null) return response
    this.#open++
    const finish = (): void => {
      this.#open--
      ended()
    }
    return new Response(onceEnded(response.body, finish), { status: response.status, headers: response.headers })
  }

  async #listChanged(alongside: (() => Promise<void>) | undefined): Promise<boolean> {
    if (!this.#runtime.declaration.listChanged) return false
    if (this.#listening) {
      await sendListChanged(this.#runtime, this.#server)
      return true
    }
    if (alongside !== undefined) {
      await alongside().catch(() => undefined)
      return false
    }
    this.#owed = true
    // A client that comes back to the stream it had finds the notice there.
    if (this.#isResumable) await sendListChanged(this.#runtime, this.#server)
    return false
  }
}

/** What the sessions of several runtimes share. */
export interface SharedPlaces {
  /** The clock for idle sessions. */
  readonly now: () => number
  /** How many places are taken in all. */
  readonly occupied: () => number
  /** Ends idle sessions, whichever runtime they belong to. */
  readonly sweep: () => Promise<void>
  /** The number of the next session. */
  readonly number: () => number
}

/** The session-era clients of one runtime. */
export class Sessions {
  readonly #runtime: Runtime
  readonly #limits: SessionLimits & Resumption
  readonly #places: SharedPlaces
  readonly #now: () => number
  readonly #byId = new Map<string, Session>()
  #opening = 0

  constructor(runtime: Runtime, limits: SessionLimits & Resumption, places: SharedPlaces) {
    this.#runtime = runtime
    this.#limits = limits
    this.#places = places
    this.#now = places.now
  }

  get size(): number {
    return this.#byId.size
  }

  /** Sessions, and those that are about to begin. */
  get occupied(): number {
    return this.#byId.size + this.#opening
  }

  clients(): readonly SessionClient[] {
    const now = this.#now()
    return [...this.#byId.values()].map((session) => session.client(now))
  }

  async answer(request: SessionRequest): Promise<Reply> {
    const { exchange, body, principal } = request
    const id = exchange.header('mcp-session-id')
    if (id === undefined) return isInitializeRequest(body) ? this.#begin(request) : missingSession(body)
    const session = this.#byId.get(id)
    // A session is bound to whoever opened it; to anyone else it does not exist.
    if (session === undefined || session.scope.frame.principal?.id !== principal?.id) return unknownSession(id, body)
    return session.answer(request, this.#now())
  }

  /** Ends sessions that nobody uses any more. */
  async sweep(): Promise<void> {
    const now = this.#now()
    for (const session of [...this.#byId.values()]) if (session.isIdle(now, this.#limits.idleMs)) await session.close()
  }

  /** Ends the sessions of these principals. */
  async dismiss(whose: (principal: Principal | undefined) => boolean): Promise<void> {
    const theirs = [...this.#byId.values()].filter(({ scope }) => whose(scope.frame.principal))
    await Promise.all(theirs.map((session) => session.close()))
  }

  async close(): Promise<void> {
    await this.dismiss(() => true)
  }

  async #begin(request: SessionRequest): Promise<Reply> {
    const { max } = this.#limits
    if (this.#places.occupied() >= max) await this.#places.sweep()
    if (this.#places.occupied() >= max) return sessionLimit(max, request.body)
    this.#opening++
    try {
      const id = crypto.randomUUID()
      const { principal, view, exchange, body } = request
      const scope = await this.#runtime.open({
        key: `session:${id}`,
        era: 'session',
        principal,
        view,
        request: () => exchange.request(),
        sessionId: id,
        client: isInitializeRequest(body) ? body.params : undefined,
      })
      const session = new Session(id, this.#runtime, scope, {
        number: this.#places.number(),
        now: this.#now(),
        closed: this.#forgetting(id),
        resumption: this.#limits,
      })
      await session.connect()
      this.#byId.set(id, session)
      const reply = await session.answer(request, this.#now())
      // A client that was refused never learns of its session, and could not end it.
      if (reply.status !== 200) await session.close()
      return reply
    } finally {
      this.#opening--
    }
  }

  // Written beside the request, this function would keep it in memory for as long as the session lives.
  #forgetting(id: string): () => void {
    return () => this.#byId.delete(id)
  }
}

// That it is well-formed was found out when its era was.
const isCallRequest = (body: unknown): body is JSONRPCRequest =>
  idOf(body) !== null && (body as { method: unknown }).method === 'tools/call'

/** What a client is told of anything that was thrown. */
function errorOf(error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  const { code, data } = (error ?? {}) as { readonly code?: unknown; readonly data?: unknown }
  const known = typeof code === 'number' && Number.isSafeInteger(code) ? code : ProtocolErrorCode.InternalError
  return { code: known, message: error instanceof Error ? error.message : 'Internal error', ...(data !== undefined && { data }) }
}

/** What the SDK tells handlers of prompts and resources about the caller. */
export function authInfoOf(principal: Principal): AuthInfo {
  const scopes = Array.isArray(principal.scopes) ? principal.scopes.map(String) : []
  return { token: '', clientId: principal.id, scopes, extra: { principal } }
}

function onceEnded(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let over = false
  const end = (): void => {
    if (!over) ended()
    over = true
  }
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        end()
        controller.close()
      } catch (error) {
        end()
        controller.error(error)
      }
    },
    cancel(reason) {
      end()
      return reader.cancel(reason)
    },
  })
}

function missingSession(body: unknown): Reply {
  const message =
    'This request belongs to no session. Send "initialize" first and then the Mcp-Session-Id header it was answered with.'
  return errorReply(400, { code: -32000, message, data: { reason: 'session_not_found' } }, { id: idOf(body) })
}

function unknownSession(id: string, body: unknown): Reply {
  const session = printable(id, 64)
  const failure = new Failure(
    'session_not_found',
    'There is no such session: it ended, or the server was restarted. Initialize again.',
    { session },
  )
  return failureReply(404, failure, { id: idOf(body), code: -32001 })
}

function sessionLimit(limit: number, body: unknown): Reply {
  const failure = new Failure('session_limit', `This server serves at most ${limit} sessions at a time. Try again later.`, {
    limit,
  })
  return failureReply(503, failure, { id: idOf(body), headers: { 'retry-after': '30' }, code: -32000 })
}
