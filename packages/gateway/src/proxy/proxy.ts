import type { Clock } from '@unfold-mcp/client'
import type { DocumentNotices, Extension, ListeningStream } from '@unfold-mcp/server'
import type { Access, Client } from '../access/access.ts'
import { wordsOf } from '../base/error-text.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/schema.ts'
import type { Pass } from '../middleware/chain.ts'
import type { Pace } from '../upstreams/connected/refresher.ts'
import type { UpstreamState } from '../upstreams/events.ts'
import type { Upstreams } from '../upstreams/upstreams.ts'
import { type Passage, passOn } from './call.ts'
import { DocumentList, type Offers } from './document-list.ts'
import { Documents } from './documents.ts'
import { Exchanges } from './exchanges.ts'
import { type Handlers, register } from './handlers.ts'
import { Readers } from './readers.ts'
import { Subscriptions } from './subscriptions.ts'

export interface PassingOptions {
  readonly config: Config
  readonly upstreams: Upstreams
  readonly access: Access
  readonly clock: Clock
  readonly random: () => number
  readonly pace?: Partial<Pace> | undefined
  readonly log: Log
  /** Keeps what a server offers for the next start. */
  readonly keep: (server: string, kept: object) => void
}

const metMs = 1_000
const everything: Offers = { prompts: true, resources: true, subscribe: true, completions: true }

const isLasting = (scope: string): boolean => scope.startsWith('session:') || scope.startsWith('connection:')

/** All that passes between clients and servers: calls with what is asked and said meanwhile, prompts, resources, completions. */
export class Passing {
  readonly #options: PassingOptions
  readonly #lists = new Map<string, DocumentList>()
  readonly #documents: Documents
  readonly #readers: Readers
  readonly #subscriptions: Subscriptions
  readonly #exchanges: Exchanges
  readonly #passage: Passage
  /** Whether each server that nothing was known of has been met or could not be, or a moment has passed since the start. */
  #isMet = false
  #config: Config

  constructor(options: PassingOptions) {
    const { config, upstreams, access, clock, log } = options
    this.#options = options
    this.#config = config
    this.#exchanges = new Exchanges(clock)
    this.#documents = new Documents(config, {
      access,
      listOf: (server) => this.#lists.get(server),
      clash: (uri, winner, loser) =>
        log.warn({ uri, winner, loser }, `Two servers have ${uri}: that of ${loser} is told apart by a longer address.`),
    })
    this.#subscriptions = new Subscriptions({ connection: (server) => upstreams.get(server)?.connection })
    this.#readers = new Readers(this.#documents, {
      clock,
      maySee: (client, server) => access.reaches(client, server),
      followers: (server, own) => this.#subscriptions.of(server, own),
    })
    this.#passage = {
      upstreams,
      exchanges: this.#exchanges,
      capabilities: (scope) => this.#readers.capabilities(scope),
      address: (client, server, uri) => this.#documents.addressOf(client, server, uri),
    }
    clock.after(
      metMs,
      () => {
        this.#isMet = true
      },
      true,
    )
    this.#follow()
  }

  /** The end of the way of every call. */
  readonly call: Pass = (call) => passOn(this.#passage, call)

  /** Serves prompts, resources and completions on a protocol server, as far as this client's servers have them now. */
  readonly extend: Extension = (mcp, served) => {
    const { scope, era } = served
    const client: Client | undefined = served.principal
    // A session is told once what there is; so whatever servers that are still to come may have.
    const offers = isLasting(scope) && this.#isAhead(client) ? everything : this.#documents.shown(client).offers
    if (isLasting(scope)) this.#readers.enter(mcp, served, { declared: offers, gone: () => this.#subscriptions.drop(mcp) })
    const { upstreams } = this.#options
    const handlers: Handlers = {
      documents: this.#documents,
      subscriptions: this.#subscriptions,
      exchanges: this.#exchanges,
      upstreams,
      offers,
      // Over standard input and output, what a 2026-07-28 client wants to hear of is known to the SDK alone.
      canFollow: era === 'session' || !isLasting(scope),
      read: () => this.read(),
    }
    register(mcp, served, handlers)
  }

  /** Done when what the servers that were met offer beside tools has been read, or they are slow. */
  async read(): Promise<void> {
    await Promise.all([...this.#lists.values()].map(({ read }) => read))
  }

  /** What a server has beside tools, as it is known. */
  offered(server: string): Pick<DocumentList, 'prompts' | 'resources' | 'templates'> {
    return this.#lists.get(server) ?? { prompts: [], resources: [], templates: [] }
  }

  /** Follows the resources that a client wants to hear of on a stream, until what is returned is called. */
  readonly listens = ({ principal, resources }: ListeningStream): (() => void) => {
    const client: Client | undefined = principal
    const holder = {}
    this.#readers.listens(client)
    for (const uri of resources) {
      const owner = this.#documents.ownerOf(client, uri)
      if (owner !== undefined && this.#subscriptions.hasRoomFor(holder)) this.#subscriptions.follow(holder, owner, uri)
    }
    return () => this.#subscriptions.drop(holder)
  }

  /** Tells clients that listen on streams through `notices`, until what is returned is called. */
  attach(notices: DocumentNotices): () => void {
    return this.#readers.attach(notices)
  }

  /** What was kept of a server that has not been met yet. */
  restore(server: string, kept: unknown): void {
    if (kept === undefined || this.#lists.has(server)) return
    const list = this.#list(server)
    list.restore(kept)
    this.#lists.set(server, list)
  }

  configure(config: Config): void {
    this.#config = config
    for (const [server, list] of this.#lists)
      if (config.mcpServers[server]?.disabled !== false) {
        list.lost()
        this.#lists.delete(server)
      }
    this.#documents.configure(config)
    this.#readers.changed()
    this.#checkMet()
  }

  close(): void {
    for (const list of this.#lists.values()) list.lost()
    this.#exchanges.close()
    this.#readers.close()
  }

  #follow(): void {
    const { events } = this.#options.upstreams
    events.on('connected', ({ upstream }) => this.#met(upstream))
    events.on('state', ({ upstream, state }) => {
      if (!isThere(state)) this.#lists.get(upstream)?.lost()
      this.#checkMet()
    })
    events.on('documents', ({ upstream, notice }) => {
      if (notice.kind === 'resource') this.#readers.updated(upstream, notice.uri)
      else this.#lists.get(upstream)?.notice(notice.kind)
    })
  }

  #met(server: string): void {
    const connection = this.#options.upstreams.get(server)?.connection
    if (connection === undefined) return
    const list = this.#lists.get(server) ?? this.#list(server)
    this.#lists.set(server, list)
    const before = JSON.stringify(list.offers)
    list.met(connection)
    if (JSON.stringify(list.offers) !== before) this.#options.keep(server, list.kept)
    this.#documents.changed()
    this.#readers.changed()
    void this.#subscriptions.renew(server)
    this.#checkMet()
  }

  /** Whether a client comes before what its servers offer can be known. */
  #isAhead(client: Client | undefined): boolean {
    const server = client?.server
    if (server === undefined) return !this.#isMet
    return !this.#lists.has(server) && this.#options.upstreams.get(server)?.state === 'starting'
  }

  #checkMet(): void {
    const { upstreams } = this.#options
    const isMet = ([name, { disabled }]: [string, { disabled: boolean }]): boolean => {
      const state = upstreams.get(name)?.state
      return disabled || this.#lists.has(name) || (state !== undefined && state !== 'starting' && state !== 'installing')
    }
    if (Object.entries(this.#config.mcpServers).every(isMet)) this.#isMet = true
  }

  #list(server: string): DocumentList {
    const { clock, random, pace, log, keep } = this.#options
    const list = new DocumentList({
      clock,
      random,
      pace,
      limit: () => this.#config.limits.tools,
      changed: () => {
        keep(server, list.kept)
        this.#documents.changed()
        this.#readers.changed()
      },
      failed: (kind, error) =>
        log.warn({ upstream: server, kind }, `Its ${kind} could not be read; it is asked again. ${wordsOf(error)}`),
    })
    return list
  }
}

/** Whether a server is connected, or about to be. */
const isThere = (state: UpstreamState): boolean => ['starting', 'installing', 'ready', 'degraded'].includes(state)
