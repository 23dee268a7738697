import type { ClientCapabilities, McpServer } from '@modelcontextprotocol/server'
import type { Clock } from '@unfold-mcp/client'
import type { DocumentNotices, Served } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import type { DocumentCapabilities } from './document-list.ts'
import { type Documents, type DocumentView, viewKey } from './documents.ts'

interface ConnectedClient {
  readonly mcp: McpServer
  readonly client: Client | undefined
  /** What it was announced that there is. */
  readonly declared: DocumentCapabilities
  announced: DocumentView['identity']
  /** Nothing is said to a client before it said that it is ready. */
  isReady: boolean
}

export interface DocumentAnnouncerOptions {
  readonly clock: Clock
  /** Whether a client sees what a server offers beside tools. */
  readonly permitsServer: (client: Client | undefined, server: string) => boolean
  readonly subscribers: (server: string, original: string) => Subscribers
}

interface ConnectOptions {
  /** What the client is announced that there is. */
  readonly declared: DocumentCapabilities
  /** Called when it is not connected any more. */
  readonly onClose: () => void
}

/** Who follows a resource, and the address that each knows it under. */
export type Subscribers = readonly (readonly [object, string])[]

type Kind = keyof DocumentView['identity']

const kinds: readonly Kind[] = ['prompts', 'resources']
// Servers that come at once are one change.
const settleMs = 20

/** Who is connected, and what each was last announced. Whoever sees something else than before is announced so, once; others are not. */
export class DocumentAnnouncer {
  readonly #documents: Documents
  readonly #clock: Clock
  readonly #permitsServer: (client: Client | undefined, server: string) => boolean
  readonly #connections = new Map<string, ConnectedClient>()
  readonly #byServer = new WeakMap<object, ConnectedClient>()
  readonly #streams = new Set<DocumentNotices>()
  /** What clients that listen on streams were last announced, by what they see. */
  readonly #announced = new Map<string, { readonly client: Client | undefined; announced: DocumentView['identity'] }>()
  readonly #subscribers: DocumentAnnouncerOptions['subscribers']
  /** Resources of each server that were updated, and of which nobody was announced yet. */
  readonly #updated = new Map<string, Set<string>>()
  #scheduled: (() => void) | undefined

  constructor(documents: Documents, { clock, permitsServer, subscribers }: DocumentAnnouncerOptions) {
    this.#documents = documents
    this.#clock = clock
    this.#permitsServer = permitsServer
    this.#subscribers = subscribers
  }

  /** Follows a client for as long as it is connected. */
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
      // What changed since it asked what there is.
      this.scheduleAnnouncement()
    }
    server.onclose = () => {
      onclose?.()
      if (this.#connections.get(scope) === connection) this.#connections.delete(scope)
      onClose()
    }
  }

  /** A client listens on a stream. */
  addStream(client: Client | undefined): void {
    const key = viewKey(client)
    if (!this.#announced.has(key)) this.#announced.set(key, { client, announced: this.#documents.view(client).identity })
  }

  /** Tells clients that listen on streams through `notifier`, until what is returned is called. */
  attach(notifier: DocumentNotices): () => void {
    this.#streams.add(notifier)
    return () => this.#streams.delete(notifier)
  }

  /** What the client of a session said it can be asked. */
  capabilities(scope: string): ClientCapabilities | undefined {
    return this.#connections.get(scope)?.mcp.server.getClientCapabilities()
  }

  /** Something changed; whoever it concerns is announced soon. */
  scheduleAnnouncement(): void {
    this.#scheduled ??= this.#clock.after(settleMs, () => {
      this.#scheduled = undefined
      this.#announce()
    })
  }

  /** A resource of a server was updated: those who follow it are announced soon, once. */
  resourceUpdated(server: string, original: string): void {
    if (this.#subscribers(server, original).length === 0) return
    const uris = this.#updated.get(server) ?? new Set<string>()
    this.#updated.set(server, uris.add(original))
    this.scheduleAnnouncement()
  }

  /** Tells these clients of an update, by the addresses they know the resource under, as far as they may see it. */
  #announceUpdate(server: string, subscribers: Subscribers): void {
    const streamed = new Set<string>()
    for (const [subscriber, uri] of subscribers) {
      const connection = this.#byServer.get(subscriber)
      if (connection === undefined) streamed.add(uri)
      else if (this.#permitsServer(connection.client, server))
        connection.mcp.server.sendResourceUpdated({ uri }).catch(() => undefined)
    }
    // Which of the streams asked for it, each knows itself. To clients of other addresses the same URI may be another resource.
    const isTheirs = (uri: string) => (principal: unknown) => {
      const client = principal as Client | undefined
      return this.#permitsServer(client, server) && this.#documents.ownerOf(client, uri)?.server === server
    }
    for (const uri of streamed) for (const notifier of this.#streams) notifier.resourceUpdated(uri, isTheirs(uri))
  }

  close(): void {
    this.#scheduled?.()
    this.#connections.clear()
    this.#streams.clear()
  }

  #announce(): void {
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

/** A client that is onClose is no failure. */
function send({ server }: McpServer, kind: Kind): void {
  const sent = kind === 'prompts' ? server.sendPromptListChanged() : server.sendResourceListChanged()
  sent.catch(() => undefined)
}
