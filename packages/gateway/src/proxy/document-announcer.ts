import type { ClientCapabilities, McpServer } from '@modelcontextprotocol/server'
import type { Clock } from '@unfold-mcp/client'
import type { DocumentNotices, Served } from '@unfold-mcp/server'
import type { Client } from '../access/access.ts'
import type { DocumentCapabilities } from './document-list.ts'
import { type Documents, type DocumentView, viewKey } from './documents.ts'

interface ConnectedClient {
  readonly mcp: McpServer
  readonly client: Client | undefined
  /** What it was told that there is. */
  readonly declared: DocumentCapabilities
  told: DocumentView['identity']
  /** Nothing is said to a client before it said that it is ready. */
  isReady: boolean
}

export interface DocumentAnnouncerOptions {
  readonly clock: Clock
  /** Whether a client sees what a server offers beside tools. */
  readonly maySee: (client: Client | undefined, server: string) => boolean
  readonly followers: (server: string, own: string) => Followers
}

interface Entering {
  /** What the client is told that there is. */
  readonly declared: DocumentCapabilities
  /** Called when it is not connected any more. */
  readonly gone: () => void
}

/** Who follows a resource, and the address that each knows it under. */
export type Followers = readonly (readonly [object, string])[]

type Kind = keyof DocumentView['identity']

const kinds: readonly Kind[] = ['prompts', 'resources']
// Servers that come at once are one change.
const settleMs = 20

/** Who is connected, and what each was last told. Whoever sees something else than before is told so, once; others are not. */
export class DocumentAnnouncer {
  readonly #documents: Documents
  readonly #clock: Clock
  readonly #maySee: (client: Client | undefined, server: string) => boolean
  readonly #connections = new Map<string, ConnectedClient>()
  readonly #byServer = new WeakMap<object, ConnectedClient>()
  readonly #streams = new Set<DocumentNotices>()
  /** What clients that listen on streams were last told, by what they see. */
  readonly #told = new Map<string, { readonly client: Client | undefined; told: DocumentView['identity'] }>()
  readonly #followers: DocumentAnnouncerOptions['followers']
  /** Resources of each server that were updated, and of which nobody was told yet. */
  readonly #updated = new Map<string, Set<string>>()
  #telling: (() => void) | undefined

  constructor(documents: Documents, { clock, maySee, followers }: DocumentAnnouncerOptions) {
    this.#documents = documents
    this.#clock = clock
    this.#maySee = maySee
    this.#followers = followers
  }

  /** Follows a client for as long as it is connected. */
  enter(mcp: McpServer, { scope, era, principal }: Served, { declared, gone }: Entering): void {
    const client: Client | undefined = principal
    const { identity } = this.#documents.shown(client)
    const { server } = mcp
    const { oninitialized, onclose } = server
    const reader: ConnectedClient = { mcp, client, declared, told: identity, isReady: era === 'stateless' }
    this.#connections.set(scope, reader)
    this.#byServer.set(mcp, reader)
    server.oninitialized = () => {
      oninitialized?.()
      reader.isReady = true
      // What changed since it asked what there is.
      this.changed()
    }
    server.onclose = () => {
      onclose?.()
      if (this.#connections.get(scope) === reader) this.#connections.delete(scope)
      gone()
    }
  }

  /** A client listens on a stream. */
  listens(client: Client | undefined): void {
    const key = viewKey(client)
    if (!this.#told.has(key)) this.#told.set(key, { client, told: this.#documents.shown(client).identity })
  }

  /** Tells clients that listen on streams through `notices`, until what is returned is called. */
  attach(notices: DocumentNotices): () => void {
    this.#streams.add(notices)
    return () => this.#streams.delete(notices)
  }

  /** What the client of a session said it can be asked. */
  capabilities(scope: string): ClientCapabilities | undefined {
    return this.#connections.get(scope)?.mcp.server.getClientCapabilities()
  }

  /** Something changed; whoever it concerns is told soon. */
  changed(): void {
    this.#telling ??= this.#clock.after(settleMs, () => {
      this.#telling = undefined
      this.#tell()
    })
  }

  /** A resource of a server was updated: those who follow it are told soon, once. */
  updated(server: string, own: string): void {
    if (this.#followers(server, own).length === 0) return
    const uris = this.#updated.get(server) ?? new Set<string>()
    this.#updated.set(server, uris.add(own))
    this.changed()
  }

  /** Tells these clients of an update, by the addresses they know the resource under, as far as they may see it. */
  #tellUpdated(server: string, holders: Followers): void {
    const streamed = new Set<string>()
    for (const [holder, uri] of holders) {
      const reader = this.#byServer.get(holder)
      if (reader === undefined) streamed.add(uri)
      else if (this.#maySee(reader.client, server)) reader.mcp.server.sendResourceUpdated({ uri }).catch(() => undefined)
    }
    // Which of the streams asked for it, each knows itself. To clients of other addresses the same URI may be another resource.
    const isTheirs = (uri: string) => (principal: unknown) => {
      const client = principal as Client | undefined
      return this.#maySee(client, server) && this.#documents.ownerOf(client, uri)?.server === server
    }
    for (const uri of streamed) for (const notices of this.#streams) notices.resourceUpdated(uri, isTheirs(uri))
  }

  close(): void {
    this.#telling?.()
    this.#connections.clear()
    this.#streams.clear()
  }

  #tell(): void {
    const updated = [...this.#updated]
    this.#updated.clear()
    for (const [server, uris] of updated) for (const own of uris) this.#tellUpdated(server, this.#followers(server, own))
    for (const reader of this.#connections.values()) {
      if (!reader.isReady) continue
      const now = this.#documents.shown(reader.client).identity
      const before = reader.told
      reader.told = now
      for (const kind of kinds) if (reader.declared[kind] && now[kind] !== before[kind]) send(reader.mcp, kind)
    }
    const concerned = { prompts: new Set<string>(), resources: new Set<string>() }
    for (const [key, each] of this.#told) {
      const now = this.#documents.shown(each.client).identity
      for (const kind of kinds) if (now[kind] !== each.told[kind]) concerned[kind].add(key)
      each.told = now
    }
    const to = (kind: Kind) => (principal: unknown) => concerned[kind].has(viewKey(principal as Client | undefined))
    for (const notices of this.#streams) {
      if (concerned.prompts.size > 0) notices.promptsChanged(to('prompts'))
      if (concerned.resources.size > 0) notices.resourcesChanged(to('resources'))
    }
  }
}

/** A client that is gone is no failure. */
function send({ server }: McpServer, kind: Kind): void {
  const sent = kind === 'prompts' ? server.sendPromptListChanged() : server.sendResourceListChanged()
  sent.catch(() => undefined)
}
