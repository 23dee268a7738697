import type { ClientCapabilities, McpServer } from '@modelcontextprotocol/server'
import type { Clock } from '@unfold-mcp/client'
import type { ChangeNotifier, Served } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import { startStopwatch } from '../base/stopwatch.ts'
import type { DocumentCapabilities } from './document-list.ts'
import { type Documents, type DocumentView, viewKey } from './documents.ts'

interface ConnectedClient {
  readonly mcp: McpServer
  readonly client: Client | undefined
  /** Capabilities declared to the client. */
  readonly declared: DocumentCapabilities
  announced: DocumentView['identity']
  /** No notifications before `notifications/initialized`. */
  isReady: boolean
}

export interface DocumentAnnouncerOptions {
  readonly clock: Clock
  readonly permitsServer: (client: Client | undefined, server: string) => boolean
  readonly subscribers: (server: string, original: string) => Subscribers
  /** Called with the event-loop time that a server's changes caused. */
  readonly charge: (server: string, ms: number) => void
}

interface ConnectOptions {
  readonly declared: DocumentCapabilities
  readonly onClose: () => void
}

/** Subscribers of a resource, each with the URI it knows. */
export type Subscribers = readonly (readonly [object, string])[]

type Kind = keyof DocumentView['identity']

const kinds: readonly Kind[] = ['prompts', 'resources']
// Debounce: servers that connect together are one change.
const settleMs = 20

/** Sends list_changed and resource updates for prompts and resources, only to clients whose view has changed. */
export class DocumentAnnouncer {
  readonly #documents: Documents
  readonly #clock: Clock
  readonly #permitsServer: (client: Client | undefined, server: string) => boolean
  readonly #connections = new Map<string, ConnectedClient>()
  readonly #byServer = new WeakMap<object, ConnectedClient>()
  readonly #streams = new Set<ChangeNotifier>()
  /** Last announced identity of stream clients, by view key. */
  readonly #announced = new Map<string, { readonly client: Client | undefined; announced: DocumentView['identity'] }>()
  readonly #subscribers: DocumentAnnouncerOptions['subscribers']
  /** Updated resources that are not announced yet, by server. */
  readonly #updated = new Map<string, Set<string>>()
  /** Servers that changed since the last announcement. */
  #changed = new Set<string>()
  readonly #charge: DocumentAnnouncerOptions['charge']
  #scheduled: (() => void) | undefined

  constructor(documents: Documents, { clock, permitsServer, subscribers, charge }: DocumentAnnouncerOptions) {
    this.#charge = charge
    this.#documents = documents
    this.#clock = clock
    this.#permitsServer = permitsServer
    this.#subscribers = subscribers
  }

  /** Notifies a client while it is connected. */
  connect(mcp: McpServer, { scope, era, principal }: Served, { declared, onClose }: ConnectOptions): void {
    const client: Client | undefined = principal
    const { identity } = this.#documents.view(client)
    const { server } = mcp
    const { oninitialized, onclose } = server
    const connection: ConnectedClient = { mcp, client, declared, announced: identity, isReady: era === 'stateless' }
    this.#connections.set(scope, connection)
    this.#byServer.set(mcp, connection)
    server.oninitialized = () => {
      oninitialized?.()
      connection.isReady = true
      // The view may have changed since the client connected.
      this.scheduleAnnouncement()
    }
    server.onclose = () => {
      onclose?.()
      if (this.#connections.get(scope) === connection) this.#connections.delete(scope)
      onClose()
    }
  }

  addStream(client: Client | undefined): void {
    const key = viewKey(client)
    if (!this.#announced.has(key)) this.#announced.set(key, { client, announced: this.#documents.view(client).identity })
  }

  /** Sends notifications on streams through `notifier` until the returned function is called. */
  attach(notifier: ChangeNotifier): () => void {
    this.#streams.add(notifier)
    return () => this.#streams.delete(notifier)
  }

  /** Capabilities of a session's client. */
  capabilities(scope: string): ClientCapabilities | undefined {
    return this.#connections.get(scope)?.mcp.server.getClientCapabilities()
  }

  /** Announces changes soon; `server`: the one that changed. */
  scheduleAnnouncement(server?: string): void {
    if (server !== undefined) this.#changed.add(server)
    this.#scheduled ??= this.#clock.after(settleMs, () => {
      this.#scheduled = undefined
      const changed = this.#changed
      this.#changed = new Set()
      const spent = startStopwatch()
      this.#announce()
      const ms = spent()
      for (const each of changed) this.#charge(each, ms / changed.size)
    })
  }

  /** Announces an updated resource to its subscribers, debounced. */
  resourceUpdated(server: string, original: string): void {
    if (this.#subscribers(server, original).length === 0) return
    const uris = this.#updated.get(server) ?? new Set<string>()
    this.#updated.set(server, uris.add(original))
    this.scheduleAnnouncement()
  }

  #announceUpdate(server: string, subscribers: Subscribers): void {
    const streamed = new Set<string>()
    for (const [subscriber, uri] of subscribers) {
      const connection = this.#byServer.get(subscriber)
      if (connection === undefined) streamed.add(uri)
      else if (this.#permitsServer(connection.client, server))
        connection.mcp.server.sendResourceUpdated({ uri }).catch(() => undefined)
    }
    // Each stream knows its own subscriptions. For another client, the same URI may be a different resource.
    const isTheirs = (uri: string) => (principal: unknown) => {
      const client = principal as Client | undefined
      const route = this.#documents.route(client, uri)
      return this.#permitsServer(client, server) && route !== undefined && 'server' in route && route.server === server
    }
    for (const uri of streamed) for (const notifier of this.#streams) notifier.resourceUpdated(uri, isTheirs(uri))
  }

  close(): void {
    this.#scheduled?.()
    this.#connections.clear()
    this.#streams.clear()
  }

  #announce(): void {
    this.#documents.reportConflicts()
    const updated = [...this.#updated]
    this.#updated.clear()
    for (const [server, uris] of updated)
      for (const original of uris) this.#announceUpdate(server, this.#subscribers(server, original))
    for (const connection of this.#connections.values()) {
      if (!connection.isReady) continue
      const now = this.#documents.view(connection.client).identity
      const before = connection.announced
      connection.announced = now
      for (const kind of kinds) if (connection.declared[kind] && now[kind] !== before[kind]) send(connection.mcp, kind)
    }
    const concerned = { prompts: new Set<string>(), resources: new Set<string>() }
    for (const [key, each] of this.#announced) {
      const now = this.#documents.view(each.client).identity
      for (const kind of kinds) if (now[kind] !== each.announced[kind]) concerned[kind].add(key)
      each.announced = now
    }
    const to = (kind: Kind) => (principal: unknown) => concerned[kind].has(viewKey(principal as Client | undefined))
    for (const notifier of this.#streams) {
      if (concerned.prompts.size > 0) notifier.promptsChanged(to('prompts'))
      if (concerned.resources.size > 0) notifier.resourcesChanged(to('resources'))
    }
  }
}

// A client that disconnected is not an error.
function send({ server }: McpServer, kind: Kind): void {
  const sent = kind === 'prompts' ? server.sendPromptListChanged() : server.sendResourceListChanged()
  sent.catch(() => undefined)
}
