import { type InitializeRequest, isInitializeRequest } from '@modelcontextprotocol/server'
import { Failure, printable, type Shares } from '@unfold-mcp/core'
import type { Runtime } from '../../runtime/runtime.ts'
import type { SessionEvent, SessionStore, StoredSession } from '../../stores/session-store.ts'
import type { Principal } from '../../tool/principal.ts'
import { errorReply, failureReply, requestIdOf } from '../../wire/errors.ts'
import type { Reply } from '../../wire/exchange.ts'
import { Session, type SessionClient, type SessionRequest } from './session.ts'
import type { Resumption } from './session-http.ts'

export interface SessionLimits {
  /** Maximum number of sessions. */
  readonly max: number
  /** A session without requests for this long, and without an open stream, is ended. */
  readonly idleMs: number
}

export interface SessionsOptions extends SessionLimits, Resumption {
  /** Shares sessions with other replicas. Default: only this process knows them. */
  readonly store?: SessionStore
}

/** State that the sessions of several runtimes share. */
export interface HandlerSessions {
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
  readonly #options: SessionsOptions
  readonly #handler: HandlerSessions
  readonly #now: () => number
  readonly #byId = new Map<string, Session>()
  /** Views that clients have listed, until they are recorded in the store. */
  readonly #lists = new Map<string, { readonly fingerprint: string; readonly at: number }>()
  /** Sessions that are being taken over from another replica. */
  readonly #restoring = new Map<string, Promise<Session | undefined>>()

  constructor(runtime: Runtime, options: SessionsOptions, handler: HandlerSessions) {
    this.#runtime = runtime
    this.#options = options
    this.#handler = handler
    this.#now = handler.now
  }

  get size(): number {
    return this.#byId.size
  }

  has(id: string): boolean {
    return this.#byId.has(id)
  }

  clients(): readonly SessionClient[] {
    const now = this.#now()
    return [...this.#byId.values()].map((session) => session.client(now))
  }

  async handle(request: SessionRequest): Promise<Reply> {
    const { exchange, body } = request
    const id = exchange.header('mcp-session-id')
    if (id === undefined) return isInitializeRequest(body) ? this.#initialize(request) : missingSessionId(body)
    try {
      const session = this.#byId.get(id) ?? (await this.#stored(id, request))
      // A session is bound to its principal; for any other it does not exist.
      if (session === undefined || session.scope.settings.principal?.id !== request.principal?.id) return unknownSession(id, body)
      const reply = await session.handle(request, this.#now())
      if (reply !== undefined) return reply
      await session.close()
      return unknownSession(id, body)
    } catch (error) {
      if (!(error instanceof SessionStoreError)) throw error
      return storeUnavailable(body)
    }
  }

  /** Handles an event of another replica. */
  async onEvent(id: string, event: SessionEvent): Promise<void> {
    await this.#byId.get(id)?.onEvent(event)
  }

  /** Events of other replicas may have been missed. */
  suspect(): void {
    for (const session of this.#byId.values()) session.suspect()
  }

  /** Extends the life of the sessions whose clients listen here, and catches up with changes whose events were lost. */
  async compare(store: SessionStore): Promise<void> {
    const listening = [...this.#byId].filter(([, session]) => session.isListening)
    if (listening.length === 0) return
    const found = await store.renew(
      listening.map(([id]) => id),
      this.#options.idleMs,
    )
    await Promise.all(
      listening.map(([id, session]) => {
        const stored = found.get(id)
        return stored === undefined ? session.close() : session.compare(stored)
      }),
    )
  }

  /** Records the views that clients have listed here, and catches up if one was outdated. */
  async confirm(store: SessionStore): Promise<void> {
    const lists = new Map(this.#lists)
    if (lists.size === 0) return
    const now = this.#now()
    const served = [...lists].map(([id, { fingerprint, at }]) => [id, { fingerprint, ageMs: now - at }] as const)
    const versions = await store.confirm(new Map(served))
    for (const [id, list] of lists) if (this.#lists.get(id) === list) this.#lists.delete(id)
    await Promise.all([...versions].flatMap(([id, version]) => this.#byId.get(id)?.changed(version) ?? []))
  }

  /** Ends idle sessions. */
  async sweep(): Promise<void> {
    const now = this.#now()
    for (const session of [...this.#byId.values()]) if (session.isIdle(now, this.#options.idleMs)) await session.close()
  }

  /** Ends the sessions of matching principals. */
  async disconnect(matches: (principal: Principal | undefined) => boolean): Promise<void> {
    const matching = [...this.#byId.values()].filter(({ scope }) => matches(scope.settings.principal))
    await Promise.all(matching.map((session) => session.end()))
  }

  /** Ends the streams of shared sessions that their clients open again. */
  endStreams(): void {
    for (const session of this.#byId.values()) session.endStreams()
  }

  /** Ends all sessions here; other replicas can still serve shared ones. */
  async close(): Promise<void> {
    await Promise.all([...this.#byId.values()].map((session) => session.close()))
  }

  async #initialize(request: SessionRequest): Promise<Reply> {
    const { body } = request
    const release = await this.#place(request)
    if (release === undefined) return sessionLimit(this.#handler.slots, body)
    const id = crypto.randomUUID()
    try {
      const initialize = isInitializeRequest(body) ? body.params : undefined
      const session = await this.#open(id, request, initialize, release)
      const reply = (await session.handle(request, this.#now())) ?? unknownSession(id, body)
      const { store, idleMs } = this.#options
      // A refused client does not know its session id, so it could not end the session.
      if (reply.status !== 200) await session.close()
      else if (store !== undefined) {
        try {
          await session.share({ store, idleMs, now: this.#now }, { ...initialize })
        } catch {
          // Other replicas would not know it.
          await session.close()
          return storeUnavailable(body)
        }
      }
      return reply
    } catch (error) {
      if (!this.#byId.has(id)) release()
      throw error
    }
  }

  /** Returns a session that another replica has stored, if it belongs to this client. */
  async #stored(id: string, request: SessionRequest): Promise<Session | undefined> {
    const { store } = this.#options
    if (store === undefined) return undefined
    const restoring = this.#restoring.get(id) ?? this.#restore(store, id, request)
    this.#restoring.set(id, restoring)
    try {
      return await restoring
    } finally {
      this.#restoring.delete(id)
    }
  }

  async #restore(store: SessionStore, id: string, request: SessionRequest): Promise<Session | undefined> {
    const stored = await store.load(id, this.#options.idleMs).catch((error: unknown) => {
      throw new SessionStoreError(error)
    })
    const { name } = this.#runtime.declaration.info
    if (stored === undefined || stored.record.toolbox !== name || stored.record.principal !== request.principal?.id)
      return undefined
    const release = await this.#place(request)
    if (release === undefined) throw new SessionStoreError('no place')
    try {
      const session = await this.#open(id, request, initializeOf(stored), release)
      await session.restore({ store, idleMs: this.#options.idleMs, now: this.#now }, stored)
      return session
    } catch (error) {
      if (!this.#byId.has(id)) release()
      throw error
    }
  }

  async #place({ share }: SessionRequest): Promise<(() => void) | undefined> {
    const { slots, sweep } = this.#handler
    const path = share === undefined ? [] : [share]
    if (!slots.hasRoom(path)) await sweep()
    return slots.take(path)
  }

  async #open(
    id: string,
    { principal, share, view, exchange }: SessionRequest,
    client: InitializeParams | undefined,
    release: () => void,
  ): Promise<Session> {
    const scope = await this.#runtime.scopes.open({
      key: `session:${id}`,
      era: 'session',
      principal,
      share,
      view,
      request: () => exchange.request(),
      sessionId: id,
      client,
    })
    const session = new Session(id, this.#runtime, scope, {
      number: this.#handler.nextNumber(),
      now: this.#now(),
      onClose: this.#remover(id, release),
      onListed: this.#listRecorder(id),
      resumption: this.#options,
    })
    await session.connect()
    this.#byId.set(id, session)
    return session
  }

  // As closures inside #open these would keep the request in memory for the life of the session.
  #listRecorder(id: string): (fingerprint: string) => void {
    return (fingerprint) => void this.#lists.set(id, { fingerprint, at: this.#now() })
  }

  #remover(id: string, release: () => void): () => void {
    return () => {
      this.#byId.delete(id)
      release()
    }
  }
}

/** The session may exist, but its record cannot be read, or there is no room for it here. */
class SessionStoreError extends Error {
  constructor(cause: unknown) {
    super('The session cannot be loaded.', { cause })
  }
}

type InitializeParams = InitializeRequest['params']

/** The parameters that the client once sent; they were valid then. */
const initializeOf = ({ record }: StoredSession): InitializeParams => record.initialize as unknown as InitializeParams

function storeUnavailable(body: unknown): Reply {
  const message =
    'The session cannot be served now: the store that replicas share is unavailable, or this replica is full. Try again in a moment.'
  const failure = new Failure('state_unavailable', message, { what: 'session' })
  return failureReply(503, failure, { id: requestIdOf(body), headers: { 'retry-after': '2' }, code: -32000 })
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
