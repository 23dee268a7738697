import {
  type AuthInfo,
  isInitializeRequest,
  type JSONRPCRequest,
  type McpServer,
  type RequestId,
  type Server,
} from '@modelcontextprotocol/server'
import { Failure, printable } from '@unfold-mcp/core'
import { operationFor } from '../operations/index.ts'
import type { Operation, Params } from '../operations/operation.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import type { UrlView } from '../scope/url-view.ts'
import type { Principal } from '../tool/principal.ts'
import { errorReply, failureReply, idOf } from '../wire/errors.ts'
import type { Exchange, Reply } from '../wire/exchange.ts'
import { noteLogLevel } from './log-level.ts'
import { RunningRequests } from './running-requests.ts'
import { follow, lowLevel, sdkHost, sendListChanged } from './sdk-host.ts'
import { type Resumption, SessionHttpTransport } from './session-http.ts'
import { SessionPort } from './session-port.ts'

export interface SessionLimits {
  /** The most sessions at a time. */
  readonly max: number
  /** A session nobody used for this long, and that has no stream open, is ended. */
  readonly idleMs: number
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

/** One client of the session era over HTTP: its scope, its transport, and the SDK's server for what is not ours to answer. */
class Session {
  readonly id: string
  readonly scope: Scope
  readonly #runtime: Runtime
  readonly #transport: SessionHttpTransport
  readonly #host: Server | McpServer
  readonly #number: number
  readonly #begun: number
  readonly #running: RunningRequests
  #lastUsed: number
  #initialized = false
  #owed = false

  constructor(id: string, runtime: Runtime, scope: Scope, { number, now, closed, resumption }: SessionOptions) {
    this.id = id
    this.scope = scope
    this.#runtime = runtime
    this.#number = number
    this.#begun = now
    this.#lastUsed = now
    this.#running = new RunningRequests(runtime)
    this.#transport = new SessionHttpTransport(id, resumption)
    this.#transport.take = (request, exchange) => this.#take(request, exchange)
    this.#transport.oncancel = (request) => this.#running.cancel(request)
    this.#transport.onlisten = () => this.#listening()
    this.#host = sdkHost(runtime, scope)
    follow(this.#host, {
      initialized: () => {
        this.#initialized = true
        runtime.announcer.attach(scope, (alongside) => this.#listChanged(alongside))
      },
      closed: () => {
        this.#running.cancelAll()
        closed()
        void runtime.scopes.close(scope)
      },
    })
  }

  client(now: number): SessionClient {
    const info = lowLevel(this.#host).getClientVersion()
    return {
      number: this.#number,
      name: info?.name,
      version: info?.version,
      principal: this.scope.settings.principal,
      sinceMs: now - this.#begun,
      idleMs: now - this.#lastUsed,
      isListening: this.#transport.isListening,
    }
  }

  async connect(): Promise<void> {
    await this.#host.connect(this.#transport)
  }

  isIdle(now: number, idleMs: number): boolean {
    const limit = this.#initialized ? idleMs : Math.min(idleMs, handshakeMs)
    return !this.#transport.isBusy && now - this.#lastUsed > limit
  }

  answer({ exchange, body, principal }: SessionRequest, now: number): Promise<Reply> {
    this.#lastUsed = now
    return this.#transport.answer(exchange, body, principal === undefined ? {} : { authInfo: authInfoOf(principal) })
  }

  async close(): Promise<void> {
    await this.#host.close()
  }

  /** Answers a request for one of our own methods. */
  #take(request: JSONRPCRequest, exchange: Exchange): boolean {
    const { id, method, params = {} } = request
    noteLogLevel(this.scope, request)
    const operation = operationFor(this.#runtime, this.scope, method)
    if (operation !== undefined) void this.#run(operation, id, params, exchange)
    return operation !== undefined
  }

  async #run(operation: Operation, id: RequestId, params: Params, exchange: Exchange): Promise<void> {
    const server = lowLevel(this.#host)
    const response = await this.#running.run(id, operation, this.scope, {
      id,
      params,
      client: new SessionPort(server, this.scope, id, this.#transport.disconnecting(id)),
      revision: server.getNegotiatedProtocolVersion(),
      http: () => exchange.request(),
    })
    if (response !== undefined) await this.#transport.respond(id, response.json)
  }

  /** The client opened the stream on which it hears of changes; it is notified of one that came before. */
  #listening(): void {
    if (!this.#owed) return
    this.#owed = false
    void sendListChanged(this.#runtime, this.#host)
  }

  async #listChanged(alongside: (() => Promise<void>) | undefined): Promise<boolean> {
    if (!this.#runtime.declaration.listChanged) return false
    if (this.#transport.isListening) {
      await sendListChanged(this.#runtime, this.#host)
      return true
    }
    if (alongside !== undefined) {
      await alongside().catch(() => undefined)
      return false
    }
    this.#owed = true
    // A client that comes back to the stream it had finds the notification there.
    if (this.#transport.isResumable) await sendListChanged(this.#runtime, this.#host)
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
    if (session === undefined || session.scope.settings.principal?.id !== principal?.id) return unknownSession(id, body)
    return session.answer(request, this.#now())
  }

  /** Ends sessions that nobody uses any more. */
  async sweep(): Promise<void> {
    const now = this.#now()
    for (const session of [...this.#byId.values()]) if (session.isIdle(now, this.#limits.idleMs)) await session.close()
  }

  /** Ends the sessions of these principals. */
  async dismiss(whose: (principal: Principal | undefined) => boolean): Promise<void> {
    const theirs = [...this.#byId.values()].filter(({ scope }) => whose(scope.settings.principal))
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
      const scope = await this.#runtime.scopes.open({
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

/** What the SDK tells handlers of prompts and resources about the caller. */
export function authInfoOf(principal: Principal): AuthInfo {
  const claimed = 'scopes' in principal ? principal.scopes : undefined
  const scopes = Array.isArray(claimed) ? claimed.map(String) : []
  return { token: '', clientId: principal.id, scopes, extra: { principal } }
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
