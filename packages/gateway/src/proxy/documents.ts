import { hash } from 'node:crypto'
import type { Prompt, Resource, ResourceTemplateType } from '@modelcontextprotocol/server'
import type { Access, Client } from '../access/access.ts'
import type { Config } from '../config/schema.ts'
import { exposedName, serverSlug } from '../names/naming.ts'
import type { DocumentList, DocumentCapabilities } from './document-list.ts'
import { prefixedUri, fits, literalLength, parsePrefixedUri } from './uris.ts'

/** Something that a server offers, and the name or address that it has there. */
export interface Routed<T> {
  readonly server: string
  readonly own: string
  readonly shown: T
}

/** All that a client sees beside tools. */
export interface DocumentView {
  readonly prompts: ReadonlyMap<string, Routed<Prompt>>
  readonly resources: ReadonlyMap<string, Routed<Resource>>
  readonly templates: ReadonlyMap<string, Routed<ResourceTemplateType>>
  readonly offers: DocumentCapabilities
  /** The servers that have resources, by the names that stand in addresses. */
  readonly holders: ReadonlyMap<string, string>
  /** The same text as long as the same is shown. */
  readonly identity: { readonly prompts: string; readonly resources: string }
}

export interface DocumentsOptions {
  readonly access: Access
  readonly listOf: (server: string) => DocumentList | undefined
  /** Told of an address that two servers use, once. */
  readonly clash: (uri: string, winner: string, loser: string) => void
}

const maxConflicts = 1_000
const maxUriLength = 8_192

/** The same text for clients that see the same beside tools. */
export const viewKey = (client: Client | undefined): string => JSON.stringify([client?.profile ?? null, client?.server ?? null])

/**
 * The prompts and resources of all servers as each client sees them: in the order of the configuration, names told apart. Whoever
 * is connected to one server alone sees the names and addresses that it gives itself.
 */
export class Documents {
  readonly #options: DocumentsOptions
  readonly #clashes = new Set<string>()
  #config: Config
  /** The names of all servers as they stand in addresses. */
  #slugs: ReadonlySet<string>
  #shown = new Map<string, DocumentView>()

  constructor(config: Config, options: DocumentsOptions) {
    this.#config = config
    this.#slugs = slugsOf(config)
    this.#options = options
  }

  configure(config: Config): void {
    this.#config = config
    this.#slugs = slugsOf(config)
    this.changed()
  }

  /** Something is not what it was. */
  changed(): void {
    this.#shown = new Map()
  }

  /** What this client sees now. */
  shown(client: Client | undefined): DocumentView {
    const key = viewKey(client)
    const known = this.#shown.get(key)
    if (known !== undefined) return known
    const made = this.#make(client)
    this.#shown.set(key, made)
    return made
  }

  /** Whose a resource is, for this client; `undefined` when nobody's that it sees. */
  ownerOf(client: Client | undefined, uri: string): Routed<unknown> | undefined {
    if (uri.length > maxUriLength) return undefined
    const { resources, templates, holders } = this.shown(client)
    const listed = resources.get(uri)
    if (listed !== undefined) return listed
    const address = parsePrefixedUri(uri)
    const named = address === undefined ? undefined : holders.get(address.slug)
    if (address !== undefined && named !== undefined) return { server: named, own: address.uri, shown: undefined }
    const [template] = [...templates.values()]
      .filter(({ shown }) => fits(shown.uriTemplate, uri))
      .toSorted((a, b) => literalLength(b.shown.uriTemplate) - literalLength(a.shown.uriTemplate))
    // Of several the one that says most: one that fits everything must not take what another was made for.
    if (template !== undefined) return { server: template.server, own: uri, shown: undefined }
    const [only, another] = holders.values()
    // Servers may have what they do not list; of several it could be anybody's.
    return only !== undefined && another === undefined ? { server: only, own: uri, shown: undefined } : undefined
  }

  /** The address under which a client reads a resource of a server. */
  addressOf(client: Client | undefined, server: string, uri: string): string {
    const owner = this.shown(client).resources.get(uri)
    return owner === undefined || owner.server === server ? uri : prefixedUri(serverSlug(server), uri)
  }

  #make(client: Client | undefined): DocumentView {
    const { access, listOf } = this.#options
    const isAlone = client?.server !== undefined
    const prompts = new Map<string, Routed<Prompt>>()
    const resources = new Map<string, Routed<Resource>>()
    const templates = new Map<string, Routed<ResourceTemplateType>>()
    const holders = new Map<string, string>()
    const offers = { prompts: false, resources: false, subscribe: false, completions: false }
    for (const [server, { disabled }] of Object.entries(this.#config.mcpServers)) {
      const list = disabled || !access.permitsServer(client, server) ? undefined : listOf(server)
      if (list === undefined) continue
      const slug = serverSlug(server)
      for (const key of Object.keys(offers) as (keyof DocumentCapabilities)[]) offers[key] ||= list.offers[key]
      if (list.offers.resources) holders.set(slug, server)
      for (const prompt of list.prompts) {
        const shared = exposedName(slug, prompt.name)
        const isPermitted = access.permits(client, { name: shared }, { source: server, group: slug })
        const name = isAlone ? prompt.name : shared
        if (isPermitted && !prompts.has(name)) prompts.set(name, { server, own: prompt.name, shown: { ...prompt, name } })
      }
      for (const resource of list.resources) {
        const uri = isAlone ? resource.uri : this.#free(resources, resource.uri, server)
        if (!resources.has(uri)) resources.set(uri, { server, own: resource.uri, shown: { ...resource, uri } })
      }
      for (const template of list.templates) {
        const uriTemplate = isAlone ? template.uriTemplate : this.#free(templates, template.uriTemplate, server)
        if (!templates.has(uriTemplate))
          templates.set(uriTemplate, { server, own: template.uriTemplate, shown: { ...template, uriTemplate } })
      }
    }
    const identity = {
      prompts: identityOf([...prompts.values()], offers),
      resources: identityOf([...resources.values(), ...templates.values()], offers),
    }
    return { prompts, resources, templates, offers, holders, identity }
  }

  /** The address as it is, unless another server before this one uses it, or it is one by which another is told apart. */
  #free(taken: ReadonlyMap<string, Routed<unknown>>, uri: string, server: string): string {
    const named = parsePrefixedUri(uri)?.slug
    if (named !== undefined && this.#slugs.has(named) && named !== serverSlug(server)) return prefixedUri(serverSlug(server), uri)
    const other = taken.get(uri)
    if (other === undefined || other.server === server) return uri
    const clash = `${other.server}\0${server}\0${uri}`
    if (!this.#clashes.has(clash) && this.#clashes.size < maxConflicts) {
      this.#clashes.add(clash)
      this.#options.clash(uri, other.server, server)
    }
    return prefixedUri(serverSlug(server), uri)
  }
}

const identityOf = (placed: readonly Routed<unknown>[], offers: DocumentCapabilities): string =>
  hash('sha256', JSON.stringify([placed, offers]), 'hex')

const slugsOf = ({ mcpServers }: Config): ReadonlySet<string> =>
  new Set(Object.keys(mcpServers).map((server) => serverSlug(server)))
