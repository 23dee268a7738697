import {
  type AuthInfo,
  isInitializeRequest,
  type JSONRPCRequest,
  type McpServer,
  type RequestId,
  type Server,
} from '@modelcontextprotocol/server'
import { Failure, printable, type Shares } from '@unfold-mcp/core'
import { operationFor } from '../operations/index.ts'
import type { Operation, Params } from '../operations/operation.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Scope } from '../scope/scope.ts'
import type { UrlView } from '../scope/url-view.ts'
import type { Principal } from '../tool/principal.ts'
import { errorReply, failureReply, requestIdOf } from '../wire/errors.ts'
import type { Exchange, Reply } from '../wire/exchange.ts'
import { recordLogLevel } from './log-level.ts'
import { RunningRequests } from './running-requests.ts'
import { addLifecycleCallbacks, lowLevel, sdkHost, sendListChanged } from './sdk-host.ts'
import { type Resumption, SessionHttpTransport } from './session-http.ts'
import { SessionPort } from './session-port.ts'

export interface SessionLimits {
  /** Maximum number of sessions. */
  readonly max: number
  /** A session without requests for this long, and without an open stream, is ended. */
  readonly idleMs: number
}

/** A session-era request whose body is parsed and whose principal is known. */
export interface SessionRequest {
  readonly exchange: Exchange
  readonly body: unknown
  readonly principal: Principal | undefined
  /** Key of the client's share of all limits. */
  readonly share: string | undefined
  readonly view: UrlView
}

/** A client that has a session. */
export interface SessionClient {
  /** Not the session id, which is a secret. */
  readonly number: number
  /** From the client's `clientInfo`. */
  readonly name: string | undefined
  readonly version: string | undefined
  readonly principal: Principal | undefined
  readonly sinceMs: number
  readonly idleMs: number
  /** The client has its standalone GET stream open. */
  readonly isListening: boolean
}

interface SessionOptions {
  readonly number: number
  readonly now: number
  readonly onClose: () => void
  readonly resumption: Resumption
}

// A client that never completes the handshake must not occupy a session until the idle timeout.
const handshakeTimeoutMs = 60_000

/** One session-era client over HTTP: its scope, its transport, and the SDK's server for the methods that are not ours. */
class Session {
  readonly id: string
  readonly scope: Scope
  readonly #runtime: Runtime
  readonly #transport: SessionHttpTransport
  readonly #host: Server | McpServer
  readonly #number: number
  readonly #startedAt: number
  readonly #running: RunningRequests
  #lastUsed: number
  #isInitialized = false
  #hasUnsentListChange = false

  constructor(id: string, runtime: Runtime, scope: Scope, { number, now, onClose, resumption }: SessionOptions) {
    this.id = id
    this.scope = scope
    this.#runtime = runtime
    this.#number = number
    this.#startedAt = now
    this.#lastUsed = now
    this.#running = new RunningRequests(runtime)
    this.#transport = new SessionHttpTransport(id, resumption)
    this.#transport.handleOwn = (request, exchange) => this.#handleOwn(request, exchange)
    this.#transport.oncancel = (request) => this.#running.cancel(request)
    this.#transport.onlisten = () => this.#sendUnsentListChange()
    this.#host = sdkHost(runtime, scope)
    addLifecycleCallbacks(this.#host, {
      initialized: () => {
        this.#isInitialized = true
        runtime.announcer.attach(scope, (sendAlongside) => this.#announceListChange(sendAlongside))
      },
      closed: () => {
        this.#running.cancelAll()
        onClose()
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
      sinceMs: now - this.#startedAt,
      idleMs: now - this.#lastUsed,
      isListening: this.#transport.isListening,
    }
  }

  async connect(): Promise<void> {
    await this.#host.connect(this.#transport)
  }

  isIdle(now: number, idleMs: number): boolean {
    const limit = this.#isInitialized ? idleMs : Math.min(idleMs, handshakeTimeoutMs)
    return !this.#transport.isBusy && now - this.#lastUsed > limit
  }

  handle({ exchange, body, principal }: SessionRequest, now: number): Promise<Reply> {
    this.#lastUsed = now
    return this.#transport.handle(exchange, body, principal === undefined ? {} : { authInfo: authInfoOf(principal) })
  }

  async close(): Promise<void> {
    await this.#host.close()
  }

  #handleOwn(request: JSONRPCRequest, exchange: Exchange): boolean {
    const { id, method, params = {} } = request
    recordLogLevel(this.scope, request)
    const operation = operationFor(this.#runtime, this.scope, method)
    if (operation !== undefined) void this.#run(operation, id, params, exchange)
    return operation !== undefined
  }

  async #run(operation: Operation, id: RequestId, params: Params, exchange: Exchange): Promise<void> {
    const server = lowLevel(this.#host)
    const response = await this.#running.run(id, operation, this.scope, {
      id,
      params,
      client: new SessionPort(server, this.scope, id, this.#transport.streamCloser(id)),
      revision: server.getNegotiatedProtocolVersion(),
      http: () => exchange.request(),
    })
    if (response !== undefined) await this.#transport.respond(id, response.json)
  }

  #sendUnsentListChange(): void {
    if (!this.#hasUnsentListChange) return
    this.#hasUnsentListChange = false
    void sendListChanged(this.#runtime, this.#host)
  }

  async #announceListChange(sendAlongside: (() => Promise<void>) | undefined): Promise<boolean> {
    if (!this.#runtime.declaration.listChanged) return false
    if (this.#transport.isListening) {
      await sendListChanged(this.#runtime, this.#host)
      return true
    }
    if (sendAlongside !== undefined) {
      await sendAlongside().catch(() => undefined)
      return false
    }
    this.#hasUnsentListChange = true
    // Stored for a client that resumes its stream.
    if (this.#transport.isResumable) await sendListChanged(this.#runtime, this.#host)
    return false
  }
}

/** State that the sessions of several runtimes share. */
export interface SharedSessions {
  /** Clock for idle sessions, in milliseconds. */
  readonly now: () => number
  /** Places for sessions of all runtimes. */
  readonly slots: Shares
  /** Ends idle sessions of all runtimes. */
  readonly sweep: () => Promise<void>
  readonly nextNumber: () => number
}

/** The session-era clients of one runtime. */
export class Sessions {
  readonly #runtime: Runtime
  readonly #limits: SessionLimits & Resumption
  readonly #shared: SharedSessions
  readonly #now: () => number
  readonly #byId = new Map<string, Session>()

  constructor(runtime: Runtime, limits: SessionLimits & Resumption, shared: SharedSessions) {
    this.#runtime = runtime
    this.#limits = limits
    this.#shared = shared
    this.#now = shared.now
  }

  get size(): number {
    return this.#byId.size
  }

  clients(): readonly SessionClient[] {
    const now = this.#now()
    return [...this.#byId.values()].map((session) => session.client(now))
  }

  async handle(request: SessionRequest): Promise<Reply> {
    const { exchange, body, principal } = request
    const id = exchange.header('mcp-session-id')
    if (id === undefined) return isInitializeRequest(body) ? this.#initialize(request) : missingSessionId(body)
    const session = this.#byId.get(id)
    // A session is bound to its principal; for any other it does not exist.
    if (session === undefined || session.scope.settings.principal?.id !== principal?.id) return unknownSession(id, body)
    return session.handle(request, this.#now())
  }

  /** Ends idle sessions. */
  async sweep(): Promise<void> {
    const now = this.#now()
    for (const session of [...this.#byId.values()]) if (session.isIdle(now, this.#limits.idleMs)) await session.close()
  }

  /** Ends the sessions of matching principals. */
  async disconnect(matches: (principal: Principal | undefined) => boolean): Promise<void> {
    const matching = [...this.#byId.values()].filter(({ scope }) => matches(scope.settings.principal))
    await Promise.all(matching.map((session) => session.close()))
  }

  async close(): Promise<void> {
    await this.disconnect(() => true)
  }

  async #initialize(request: SessionRequest): Promise<Reply> {
    const { slots, sweep } = this.#shared
    const path = request.share === undefined ? [] : [request.share]
    if (!slots.hasRoom(path)) await sweep()
    const release = slots.take(path)
    if (release === undefined) return sessionLimit(slots, request.body)
    const id = crypto.randomUUID()
    try {
      const { principal, share, view, exchange, body } = request
      const scope = await this.#runtime.scopes.open({
        key: `session:${id}`,
        era: 'session',
        principal,
        share,
        view,
        request: () => exchange.request(),
        sessionId: id,
        client: isInitializeRequest(body) ? body.params : undefined,
      })
      const session = new Session(id, this.#runtime, scope, {
        number: this.#shared.nextNumber(),
        now: this.#now(),
        onClose: this.#remover(id, release),
        resumption: this.#limits,
      })
      await session.connect()
      this.#byId.set(id, session)
      const reply = await session.handle(request, this.#now())
      // A refused client does not know its session id, so it could not end the session.
      if (reply.status !== 200) await session.close()
      return reply
    } catch (error) {
      if (!this.#byId.has(id)) release()
      throw error
    }
  }

  // As a closure inside #initialize this would keep the request in memory for the life of the session.
  #remover(id: string, release: () => void): () => void {
    return () => {
      this.#byId.delete(id)
      release()
    }
  }
}

/** Converts a principal for the SDK's handlers of prompts and resources. */
export function authInfoOf(principal: Principal): AuthInfo {
  const claimed = 'scopes' in principal ? principal.scopes : undefined
  const scopes = Array.isArray(claimed) ? claimed.map(String) : []
  return { token: '', clientId: principal.id, scopes, extra: { principal } }
}

function missingSessionId(body: unknown): Reply {
  const message =
    'Mcp-Session-Id header missing. Send "initialize" first, then the Mcp-Session-Id header of its response with every request.'
  return errorReply(400, { code: -32000, message, data: { reason: 'session_not_found' } }, { id: requestIdOf(body) })
}

function unknownSession(id: string, body: unknown): Reply {
  const session = printable(id, 64)
  const failure = new Failure(
    'session_not_found',
    'Session not found: it ended, or the server was restarted. Send "initialize" again.',
    { session },
  )
  return failureReply(404, failure, { id: requestIdOf(body), code: -32001 })
}

function sessionLimit({ isFull, limit }: Shares, body: unknown): Reply {
  const message = isFull
    ? `Session limit reached (${limit}). Try again later.`
    : `Too many sessions of one client (limit for all clients: ${limit}). End unused sessions with DELETE, or try again later.`
  const failure = new Failure('session_limit', message, { limit })
  return failureReply(isFull ? 503 : 429, failure, { id: requestIdOf(body), headers: { 'retry-after': '30' }, code: -32000 })
}
