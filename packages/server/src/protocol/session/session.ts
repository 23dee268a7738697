import { type JSONRPCRequest, type McpServer, type RequestId, Server } from '@modelcontextprotocol/server'
import { operationFor } from '../../operations/index.ts'
import { list } from '../../operations/list.ts'
import type { Operation, Params } from '../../operations/operation.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Scope } from '../../scope/scope.ts'
import type { UrlView } from '../../scope/url-view.ts'
import type { ClientKnowledge, SessionEvent, SessionStore, StoredSession } from '../../stores/session-store.ts'
import type { Principal } from '../../tool/principal.ts'
import type { Exchange, Reply } from '../../wire/exchange.ts'
import { parseMessage } from '../../wire/message.ts'
import { authInfoOf } from '../auth-info.ts'
import { recordLogLevel } from '../log-level.ts'
import { RunningRequests } from '../running-requests.ts'
import { addLifecycleCallbacks, lowLevel, sdkHost, sendListChanged } from '../sdk-host.ts'
import { type Resumption, SessionHttpTransport } from './session-http.ts'
import { SessionPort } from './session-port.ts'
import { SharedSession, type SharedSessionOptions } from './shared-session.ts'

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
  /** Called with the fingerprint of every list that the client of a shared session gets. */
  readonly onListed: (fingerprint: string) => void
  readonly resumption: Resumption
}

// A client that never completes the handshake must not occupy a session until the idle timeout.
const handshakeTimeoutMs = 60_000

/** Where the session is stored for other replicas. */
interface Sharing {
  readonly store: SessionStore
  readonly idleMs: number
  readonly now: () => number
}

/** One session-era client over HTTP: its scope, its transport, and the SDK's server for the methods that are not ours. */
export class Session {
  readonly id: string
  readonly scope: Scope
  readonly #runtime: Runtime
  readonly #transport: SessionHttpTransport
  readonly #host: Server | McpServer
  readonly #number: number
  readonly #startedAt: number
  readonly #onListed: (fingerprint: string) => void
  readonly #running: RunningRequests
  #lastUsed: number
  #isInitialized = false
  #hasUnsentListChange = false
  #shared: SharedSession | undefined
  /** Pending until other replicas know that the client has completed the handshake. */
  #initialization: Promise<void> | undefined
  /** Set while the end of the handshake is repeated. */
  #onReplayed: (() => void) | undefined
  /** Only of a session that replicas share. */
  #subscriptions: Set<string> | undefined
  #lastListed: string | undefined
  /** The view that the client has not listed, and for how many comparisons. */
  #overdue: { readonly fingerprint: string; readonly comparisons: number } | undefined
  #replays = 0

  constructor(id: string, runtime: Runtime, scope: Scope, { number, now, onClose, onListed, resumption }: SessionOptions) {
    this.id = id
    this.scope = scope
    this.#runtime = runtime
    this.#number = number
    this.#startedAt = now
    this.#onListed = onListed
    this.#lastUsed = now
    this.#running = new RunningRequests(runtime)
    this.#transport = new SessionHttpTransport(id, resumption)
    this.#transport.handleOwn = (request, exchange) => this.#handleOwn(request, exchange)
    this.#transport.oncancel = (request) => this.#running.cancel(request)
    this.#transport.onlisten = (isAgain) => void this.#listening(isAgain)
    this.#transport.onunlisten = () => this.#shared?.markListening(false)
    this.#host = sdkHost(runtime, scope)
    addLifecycleCallbacks(this.#host, {
      initialized: () => {
        this.#isInitialized = true
        runtime.announcer.attach(scope, (sendAlongside) => this.#announceListChange(sendAlongside))
        if (this.#onReplayed === undefined) this.#initialization = this.#storeInitialized()
        else this.#onReplayed()
      },
      closed: () => {
        this.#running.cancelAll()
        this.#shared?.endResumed()
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

  /** Resolves to `undefined` if the session ended on another replica. */
  async handle({ exchange, body, principal }: SessionRequest, now: number): Promise<Reply | undefined> {
    this.#lastUsed = now
    const shared = this.#shared
    if (shared !== undefined) {
      if (!shared.isCurrent && !(await this.#refresh(shared))) return undefined
      if (exchange.method === 'DELETE') await shared.end()
    }
    const reply = await this.#transport.handle(exchange, body, principal === undefined ? {} : { authInfo: authInfoOf(principal) })
    // The next request may reach another replica.
    if (this.#initialization !== undefined) await this.#initialization
    return reply
  }

  /** Ends it here; other replicas can still serve a shared one. */
  async close(): Promise<void> {
    await this.#host.close()
  }

  /** Ends it everywhere. */
  async end(): Promise<void> {
    await this.#shared?.end().catch(() => undefined)
    await this.close()
  }

  /** Ends the streams of a shared session that its client opens again, on another replica. */
  endStreams(): void {
    if (this.#shared === undefined) return
    this.#transport.endStandalone()
    this.#shared.endResumed()
  }

  get isListening(): boolean {
    return this.#transport.isListening
  }

  get version(): number | undefined {
    return this.#shared?.version
  }

  /** Stores a new session, so that other replicas can serve it. */
  async share({ store, idleMs, now }: Sharing, initialize: { readonly [name: string]: unknown }): Promise<void> {
    const { state, succeeded, order, neverRelists, logLevel, settings } = this.scope
    const record = {
      toolbox: this.#runtime.declaration.info.name,
      principal: settings.principal?.id,
      initialize,
      isInitialized: false,
      activation: state.activation,
      succeeded: [...succeeded],
      order: [...order],
      neverRelists,
      logLevel,
      subscriptions: [],
    }
    this.#attach(store, { stored: await store.create(this.id, record, idleMs), idleMs, now })
  }

  /** Takes over a session that another replica has stored. */
  async restore({ store, idleMs, now }: Sharing, stored: StoredSession): Promise<void> {
    const shared = this.#attach(store, { stored, idleMs, now })
    await this.#replay('initialize', stored.record.initialize)
    await this.#follow(shared)
  }

  async onEvent(event: SessionEvent): Promise<void> {
    const shared = this.#shared
    if (shared === undefined) return
    if (event.kind === 'ended') await this.close()
    else if (event.kind === 'message') this.#receive(shared, event.message)
    else if (event.kind === 'listed') this.#runtime.relists.noteList(this.scope, event.fingerprint)
    else if (event.kind === 'changed') await this.changed(event.version)
    else if (event.kind === 'followed' || event.kind === 'streamed') shared.replies.onEvent(event)
    else {
      shared.noteStream(event.replica)
      if (this.isListening) this.#transport.endStandalone()
    }
  }

  /** Another replica may have changed the session. A client that listens here is notified by this replica. */
  async changed(version: number): Promise<void> {
    const shared = this.#shared
    if (shared === undefined) return
    shared.invalidate(version)
    if (!this.isListening || shared.isCurrent) return
    if (await this.#refresh(shared)) this.#runtime.announcer.notifySoon([this.scope])
    else await this.close()
  }

  /** Events of other replicas may have been missed. */
  suspect(): void {
    this.#shared?.suspect()
  }

  /**
   * Notifies the client again if its last list, after the last notification, was outdated: of a replica that lagged behind. A client
   * that has not listed since is notified once more, because that notification may be lost.
   */
  compare({ version, listed, hasListedSince }: ClientKnowledge & { readonly version: number }): Promise<void> {
    const { fingerprint } = this.#runtime.views.rendered(this.scope)
    const isOutdated = listed !== undefined && this.#isInitialized && listed !== fingerprint
    if (isOutdated && (hasListedSince || this.#isOverdue(fingerprint))) {
      this.scope.announced = listed
      this.#runtime.announcer.notifySoon([this.scope])
    }
    if (!isOutdated) this.#overdue = undefined
    return this.changed(version)
  }

  /** True once for each view: when it was outdated for the second time in a row. */
  #isOverdue(fingerprint: string): boolean {
    const comparisons = this.#overdue?.fingerprint === fingerprint ? this.#overdue.comparisons + 1 : 1
    this.#overdue = { fingerprint, comparisons }
    return comparisons === 2
  }

  #attach(store: SessionStore, options: SharedSessionOptions): SharedSession {
    const shared = new SharedSession(store, this.id, this.scope, options)
    shared.isRunning = (stream) => this.#transport.hasReply(stream)
    this.#transport.replication = shared
    this.#shared = shared
    return shared
  }

  async #refresh(shared: SharedSession): Promise<boolean> {
    const exists = await shared.refresh()
    if (exists) await this.#follow(shared)
    return exists
  }

  /** Repeats for the SDK's server here what the client has sent to other replicas. */
  async #follow({ record, known }: SharedSession): Promise<void> {
    if (record.isInitialized && !this.#isInitialized) {
      await new Promise<void>((resolve) => {
        this.#onReplayed = resolve
        this.#transport.receive({ jsonrpc: '2.0', method: 'notifications/initialized' })
      })
      this.#onReplayed = undefined
      this.scope.announced = known
    }
    const wanted = new Set(record.subscriptions)
    this.#subscriptions ??= new Set()
    for (const uri of wanted)
      if (!this.#subscriptions.has(uri)) {
        this.#subscriptions.add(uri)
        await this.#replay('resources/subscribe', { uri })
      }
    for (const uri of this.#subscriptions)
      if (!wanted.has(uri)) {
        this.#subscriptions.delete(uri)
        await this.#replay('resources/unsubscribe', { uri })
      }
  }

  #replay(method: string, params: { readonly [name: string]: unknown }): Promise<void> {
    return this.#transport.replay({ jsonrpc: '2.0', id: `replay.${++this.#replays}`, method, params })
  }

  #receive(shared: SharedSession, value: unknown): void {
    const message = parseMessage(value)
    if (message === undefined) return
    if ('method' in message) this.#transport.receive(message)
    else {
      const response = shared.incoming(message)
      if (response !== undefined) this.#transport.receive(response)
    }
  }

  async #storeInitialized(): Promise<void> {
    const shared = this.#shared
    if (shared === undefined) return
    shared.markAnnounced(this.scope.announced)
    await shared.change((record) => ({ ...record, isInitialized: true })).catch(() => undefined)
    this.#initialization = undefined
  }

  async #listening(isAgain: boolean): Promise<void> {
    const shared = this.#shared
    if (shared === undefined) {
      this.#sendUnsentListChange()
      return
    }
    shared.markListening(true)
    // What other replicas announced while no stream was open here.
    if (!(await this.#refresh(shared))) return
    this.scope.announced = shared.known
    this.#runtime.announcer.notifySoon([this.scope])
    if (isAgain) await this.#repeatNotifications(shared)
  }

  /** Nobody may have sent notifications while the client had no stream. One too many does no harm. */
  async #repeatNotifications({ record }: SharedSession): Promise<void> {
    const server = lowLevel(this.#host)
    const notifications = [
      { method: 'notifications/prompts/list_changed' },
      { method: 'notifications/resources/list_changed' },
      ...record.subscriptions.map((uri) => ({ method: 'notifications/resources/updated', params: { uri } })),
    ] as const
    // The SDK rejects those that the server does not declare.
    for (const notification of notifications)
      await Server.prototype.notification.call(server, notification).catch(() => undefined)
  }

  /** Stores what the SDK's server does for the client, for replicas that serve it later. */
  #noteRequest({ method, params }: JSONRPCRequest): void {
    const shared = this.#shared
    if (shared === undefined) return
    if (method === 'logging/setLevel') void shared.save()
    const uri = params?.uri
    if (typeof uri !== 'string' || (method !== 'resources/subscribe' && method !== 'resources/unsubscribe')) return
    const isSubscribed = method === 'resources/subscribe'
    this.#subscriptions ??= new Set()
    if (isSubscribed) this.#subscriptions.add(uri)
    else this.#subscriptions.delete(uri)
    const without = (uris: readonly string[]): readonly string[] => uris.filter((each) => each !== uri)
    void shared
      .change((record) => ({ ...record, subscriptions: [...without(record.subscriptions), ...(isSubscribed ? [uri] : [])] }))
      .catch(() => undefined)
  }

  #handleOwn(request: JSONRPCRequest, exchange: Exchange): boolean {
    const { id, method, params = {} } = request
    recordLogLevel(this.scope, request)
    this.#noteRequest(request)
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
    if (this.#shared !== undefined) await this.#stored(this.#shared, operation)
    if (response !== undefined) await this.#transport.respond(id, response.json)
  }

  /** Stores what a request has changed, before its client gets the response. */
  async #stored(shared: SharedSession, operation: Operation): Promise<void> {
    // What the client gets; the view may be another one after the store has replied.
    const fingerprint = operation === list ? this.scope.listed : undefined
    await shared.save()
    if (fingerprint === undefined) return
    this.#onListed(fingerprint)
    // A reply on another replica may wait for it.
    if (fingerprint !== this.#lastListed) shared.send({ kind: 'listed', fingerprint })
    this.#lastListed = fingerprint
  }

  #sendUnsentListChange(): void {
    if (!this.#hasUnsentListChange) return
    this.#hasUnsentListChange = false
    void sendListChanged(this.#runtime, this.#host)
  }

  async #announceListChange(sendAlongside: (() => Promise<void>) | undefined): Promise<boolean> {
    if (!this.#runtime.declaration.listChanged) return false
    const shared = this.#shared
    const { announced } = this.scope
    if (this.#transport.isListening) {
      await sendListChanged(this.#runtime, this.#host)
      shared?.markAnnounced(announced)
      return true
    }
    // That replica notifies the client.
    if (shared?.isHeardElsewhere === true) return true
    if (sendAlongside !== undefined) {
      await sendAlongside().catch(() => undefined)
      shared?.markAnnounced(announced)
      return false
    }
    // Compared when the client opens a stream.
    if (shared !== undefined) return false
    this.#hasUnsentListChange = true
    // Stored for a client that resumes its stream.
    if (this.#transport.isResumable) await sendListChanged(this.#runtime, this.#host)
    return false
  }
}
