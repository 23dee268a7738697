import type { Clock } from '@unfold-mcp/client'
import type { ChangeNotifier, Extension, SubscriptionStream } from '@unfold-mcp/server'
import type { Access, Client } from '../access/access.ts'
import { isConnectionScope } from '../base/connection-scope.ts'
import { errorMessage } from '../base/error-message.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/schema.ts'
import type { CallHandler } from '../middleware/chain.ts'
import type { Pace } from '../upstreams/connected/refresher.ts'
import type { UpstreamState } from '../upstreams/events.ts'
import type { Upstreams } from '../upstreams/upstreams.ts'
import { type CallContext, proxyCall } from './call.ts'
import { DocumentAnnouncer } from './document-announcer.ts'
import { type DocumentCapabilities, DocumentList } from './document-list.ts'
import { Documents, type ListedDocuments } from './documents.ts'
import { Exchanges, type ExchangesOptions } from './exchanges.ts'
import { type Handlers, register } from './handlers.ts'
import { conflictMessage } from './resource-conflicts.ts'
import { Subscriptions } from './subscriptions.ts'

export interface UpstreamProxyOptions extends ExchangesOptions {
  readonly config: Config
  readonly upstreams: Upstreams
  readonly access: Access
  readonly clock: Clock
  readonly random: () => number
  readonly pace?: Partial<Pace> | undefined
  readonly log: Log
  /** Returns the prompts, resources and templates of a server that clients may see; `undefined` if the server is held. */
  readonly admit: (server: string, documents: Admissible) => Admissible | undefined
  /** False if clients can no longer use a tool, by its name on the server. */
  readonly isServed: (server: string, tool: string) => boolean
  /** Called when a server has sent its first lists since connecting. */
  readonly listed: (server: string) => void
  /** Returns a prompt or resource of a server as clients may see it. */
  readonly inspect: (server: string, what: string, result: object) => Promise<object>
  /** Stores the documents of a server for the next start. */
  readonly save: (server: string, snapshot: object) => void
}

export type Admissible = Pick<DocumentList, 'prompts' | 'resources' | 'templates'>

const allCapabilities: DocumentCapabilities = { prompts: true, resources: true, subscribe: true, completions: true }

/** Forwards calls, prompts, resources and completions between clients and upstream servers. */
export class UpstreamProxy {
  readonly #options: UpstreamProxyOptions
  readonly #lists = new Map<string, DocumentList>()
  readonly #documents: Documents
  readonly #announcer: DocumentAnnouncer
  readonly #subscriptions: Subscriptions
  readonly #exchanges: Exchanges
  readonly #callContext: CallContext
  /** True when the capabilities of every server are known, or the startup wait is over. */
  #isDiscovered = false
  #config: Config

  constructor(options: UpstreamProxyOptions) {
    const { config, upstreams, access, clock, log, replica, resumeAt } = options
    this.#options = options
    this.#config = config
    this.#exchanges = new Exchanges(clock, { replica, resumeAt })
    this.#documents = new Documents(config, {
      access,
      listOf: (server) => this.#admitted(server),
      onConflict: (conflict) => {
        const { servers, kind, uri, count } = conflict
        log.warn({ event: 'resource_conflict', servers, kind, uri, count }, conflictMessage(conflict))
      },
    })
    this.#subscriptions = new Subscriptions({ connection: (server) => upstreams.get(server)?.connection })
    this.#announcer = new DocumentAnnouncer(this.#documents, {
      clock,
      permitsServer: (client, server) => access.permitsServer(client, server),
      subscribers: (server, uri) => this.#subscriptions.subscribers(server, uri),
      charge: (server, ms) => upstreams.get(server)?.followBudget.charge(ms),
    })
    this.#callContext = {
      upstreams,
      exchanges: this.#exchanges,
      capabilities: (scope) => this.#announcer.capabilities(scope),
      isServed: options.isServed,
      clientUri: (client, server, uri) => this.#documents.clientUri(client, server, uri),
    }
    this.#follow()
  }

  readonly call: CallHandler = (call) => proxyCall(this.#callContext, call)

  /** Registers prompts, resources and completions on a protocol server. */
  readonly extend: Extension = (mcp, served) => {
    const { scope, era } = served
    const client: Client | undefined = served.principal
    // Capabilities are declared once per session, so before discovery everything is declared.
    const capabilities =
      isConnectionScope(scope) && this.#isBeforeDiscovery(client) ? allCapabilities : this.#documents.view(client).capabilities
    if (isConnectionScope(scope))
      this.#announcer.connect(mcp, served, { declared: capabilities, onClose: () => this.#subscriptions.removeAll(mcp) })
    const { upstreams, inspect } = this.#options
    const handlers: Handlers = {
      inspect,
      documents: this.#documents,
      subscriptions: this.#subscriptions,
      exchanges: this.#exchanges,
      upstreams,
      capabilities,
      // For 2026-07-28 clients over stdio, only the SDK knows the subscriptions.
      canSubscribe: era === 'session' || !isConnectionScope(scope),
      read: () => this.documentsRead(),
    }
    register(mcp, served, handlers)
  }

  /** Decides again which prompts, resources and templates of a server clients may see. */
  readmit(server: string): void {
    this.#documents.invalidate()
    this.#admitted(server)
    this.#announcer.scheduleAnnouncement()
  }

  #admitted(server: string): ListedDocuments | undefined {
    const list = this.#lists.get(server)
    if (list === undefined) return undefined
    const { capabilities } = list
    return { capabilities, admitted: this.#options.admit(server, list) }
  }

  /** Resolves when the documents of all connected servers have been read, or their wait is over. */
  async documentsRead(): Promise<void> {
    await Promise.all([...this.#lists.values()].map(({ firstRead }) => firstRead))
  }

  documents(server: string): Pick<DocumentList, 'prompts' | 'resources' | 'templates'> {
    return this.#lists.get(server) ?? { prompts: [], resources: [], templates: [] }
  }

  /** Describes conflicts of a server's resources with those of others. */
  conflictMessages(server: string): readonly string[] {
    return this.#documents.conflicts.filter(({ servers }) => servers.includes(server)).map(conflictMessage)
  }

  /** Subscribes to the resources of a `subscriptions/listen` stream. Returns a function that unsubscribes. */
  readonly onListen = ({ principal, share, resources }: SubscriptionStream): (() => void) => {
    const client: Client | undefined = principal
    const subscriber = { key: {}, share }
    this.#announcer.addStream(client)
    for (const uri of resources) {
      const route = this.#documents.route(client, uri)
      if (route !== undefined && 'server' in route && this.#subscriptions.hasRoomFor(subscriber))
        this.#subscriptions.addEventually(subscriber, route, uri)
    }
    return () => this.#subscriptions.removeAll(subscriber.key)
  }

  /** Sends notifications on streams through `notifier` until the returned function is called. */
  attach(notifier: ChangeNotifier): () => void {
    return this.#announcer.attach(notifier)
  }

  /** Restores the stored documents of a server. */
  restore(server: string, snapshot: unknown): void {
    if (snapshot === undefined || this.#lists.has(server)) return
    const list = this.#list(server)
    list.restore(snapshot)
    this.#lists.set(server, list)
  }

  configure(config: Config): void {
    this.#config = config
    for (const [server, list] of this.#lists)
      if (config.mcpServers[server]?.disabled !== false) {
        list.disconnect()
        this.#lists.delete(server)
      }
    this.#documents.configure(config)
    this.#announcer.scheduleAnnouncement()
    this.#checkDiscovered()
  }

  close(): void {
    for (const list of this.#lists.values()) list.disconnect()
    this.#exchanges.close()
    this.#announcer.close()
  }

  #follow(): void {
    const { events } = this.#options.upstreams
    events.on('connected', ({ upstream }) => this.#connected(upstream))
    events.on('state', ({ upstream, state }) => {
      if (!isConnecting(state)) this.#lists.get(upstream)?.disconnect()
      this.#checkDiscovered()
    })
    events.on('documents', ({ upstream, notice }) => {
      if (notice.kind === 'resource') this.#announcer.resourceUpdated(upstream, notice.uri)
      else this.#lists.get(upstream)?.notice(notice.kind)
    })
  }

  #connected(server: string): void {
    const { connection, followBudget } = this.#options.upstreams.get(server) ?? {}
    if (connection === undefined) return
    const list = this.#lists.get(server) ?? this.#list(server)
    this.#lists.set(server, list)
    const before = JSON.stringify(list.capabilities)
    list.connect(connection, followBudget)
    if (JSON.stringify(list.capabilities) !== before) this.#options.save(server, list.snapshot)
    this.#documents.invalidate()
    this.#announcer.scheduleAnnouncement()
    void this.#subscriptions.renew(server)
    this.#checkDiscovered()
  }

  /** True if a client connects before the capabilities of its servers are known. */
  #isBeforeDiscovery(client: Client | undefined): boolean {
    const server = client?.server
    if (server === undefined) return !this.#isDiscovered
    return !this.#lists.has(server) && this.#options.upstreams.get(server)?.state === 'starting'
  }

  #checkDiscovered(): void {
    const { upstreams } = this.#options
    const isDiscovered = ([name, { disabled }]: [string, { disabled: boolean }]): boolean => {
      const state = upstreams.get(name)?.state
      return disabled || this.#lists.has(name) || (state !== undefined && state !== 'starting' && state !== 'installing')
    }
    if (Object.entries(this.#config.mcpServers).every(isDiscovered)) this.#isDiscovered = true
  }

  #list(server: string): DocumentList {
    const { clock, random, pace, log, listed, save } = this.#options
    const list = new DocumentList({
      clock,
      random,
      pace,
      limit: () => this.#config.limits.tools,
      changed: () => {
        save(server, list.snapshot)
        this.#documents.invalidate()
        this.#announcer.scheduleAnnouncement(server)
      },
      read: () => {
        this.#admitted(server)
        listed(server)
      },
      failed: (kind, error) => log.warn({ upstream: server, kind }, `${kind}/list failed, retrying: ${errorMessage(error)}`),
      throttled: (kind, delayMs) =>
        log.warn({ upstream: server, kind }, `announces changes too often: ${kind}/list at most every ${delayMs} ms`),
    })
    return list
  }
}

/** True if a server is connected or connecting. */
const isConnecting = (state: UpstreamState): boolean => ['starting', 'installing', 'ready', 'degraded'].includes(state)
