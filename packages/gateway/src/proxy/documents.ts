import { hash } from 'node:crypto'
import type { Prompt, Resource, ResourceTemplateType } from '@modelcontextprotocol/server'
import type { Access, Client } from '../access/access.ts'
import type { Config } from '../config/schema.ts'
import { exposedName, serverSlug } from '../names/naming.ts'
import type { DocumentCapabilities, DocumentList } from './document-list.ts'
import { literalLength, matchesTemplate, parsePrefixedUri, prefixedUri } from './uris.ts'

/** A prompt, resource or template with its server and its name or URI there. */
export interface Routed<T> {
  readonly server: string
  readonly original: string
  readonly exposed: T
}

/** Prompts and resources that a client sees. */
export interface DocumentView {
  readonly prompts: ReadonlyMap<string, Routed<Prompt>>
  readonly resources: ReadonlyMap<string, Routed<Resource>>
  readonly templates: ReadonlyMap<string, Routed<ResourceTemplateType>>
  readonly capabilities: DocumentCapabilities
  /** Servers with resources, by slug. */
  readonly resourceServers: ReadonlyMap<string, string>
  /** Changes exactly when the list does. */
  readonly identity: { readonly prompts: string; readonly resources: string }
}

export interface DocumentsOptions {
  readonly access: Access
  readonly listOf: (server: string) => DocumentList | undefined
  /** Called once for each URI that two servers use. */
  readonly onConflict: (uri: string, winner: string, loser: string) => void
}

const maxConflicts = 1_000
const maxUriLength = 8_192

/** Equal for clients with the same view. */
export const viewKey = (client: Client | undefined): string => JSON.stringify([client?.profile ?? null, client?.server ?? null])

/**
 * Merges the prompts and resources of all servers for each client, in the order of the configuration and with unique names. A client
 * of a single server sees the original names and URIs.
 */
export class Documents {
  readonly #options: DocumentsOptions
  readonly #conflicts = new Set<string>()
  #config: Config
  #slugs: ReadonlySet<string>
  #views = new Map<string, DocumentView>()

  constructor(config: Config, options: DocumentsOptions) {
    this.#config = config
    this.#slugs = slugsOf(config)
    this.#options = options
  }

  configure(config: Config): void {
    this.#config = config
    this.#slugs = slugsOf(config)
    this.invalidate()
  }

  invalidate(): void {
    this.#views = new Map()
  }

  view(client: Client | undefined): DocumentView {
    const key = viewKey(client)
    const cached = this.#views.get(key)
    if (cached !== undefined) return cached
    const view = this.#build(client)
    this.#views.set(key, view)
    return view
  }

  /** Finds the server of a resource; `undefined` if no server that the client sees can have it. */
  ownerOf(client: Client | undefined, uri: string): Routed<unknown> | undefined {
    if (uri.length > maxUriLength) return undefined
    const { resources, templates, resourceServers } = this.view(client)
    const listed = resources.get(uri)
    if (listed !== undefined) return listed
    const parsed = parsePrefixedUri(uri)
    const named = parsed === undefined ? undefined : resourceServers.get(parsed.slug)
    if (parsed !== undefined && named !== undefined) return { server: named, original: parsed.uri, exposed: undefined }
    const [template] = [...templates.values()]
      .filter(({ exposed }) => matchesTemplate(exposed.uriTemplate, uri))
      .toSorted((a, b) => literalLength(b.exposed.uriTemplate) - literalLength(a.exposed.uriTemplate))
    // The most specific template wins.
    if (template !== undefined) return { server: template.server, original: uri, exposed: undefined }
    const [only, another] = resourceServers.values()
    // An unlisted URI is only unambiguous with a single server.
    return only !== undefined && another === undefined ? { server: only, original: uri, exposed: undefined } : undefined
  }

  /** Returns the URI under which a client reads a resource of a server. */
  clientUri(client: Client | undefined, server: string, uri: string): string {
    const owner = this.view(client).resources.get(uri)
    return owner === undefined || owner.server === server ? uri : prefixedUri(serverSlug(server), uri)
  }

  #build(client: Client | undefined): DocumentView {
    const { access, listOf } = this.#options
    const isAlone = client?.server !== undefined
    const prompts = new Map<string, Routed<Prompt>>()
    const resources = new Map<string, Routed<Resource>>()
    const templates = new Map<string, Routed<ResourceTemplateType>>()
    const resourceServers = new Map<string, string>()
    const capabilities = { prompts: false, resources: false, subscribe: false, completions: false }
    for (const [server, { disabled }] of Object.entries(this.#config.mcpServers)) {
      const list = disabled || !access.permitsServer(client, server) ? undefined : listOf(server)
      if (list === undefined) continue
      const slug = serverSlug(server)
      for (const key of Object.keys(capabilities) as (keyof DocumentCapabilities)[]) capabilities[key] ||= list.capabilities[key]
      if (list.capabilities.resources) resourceServers.set(slug, server)
      for (const prompt of list.prompts) {
        const shared = exposedName(slug, prompt.name)
        const isPermitted = access.permits(client, { name: shared }, { source: server, group: slug })
        const name = isAlone ? prompt.name : shared
        if (isPermitted && !prompts.has(name)) prompts.set(name, { server, original: prompt.name, exposed: { ...prompt, name } })
      }
      for (const resource of list.resources) {
        const uri = isAlone ? resource.uri : this.#uniqueUri(resources, resource.uri, server)
        if (!resources.has(uri)) resources.set(uri, { server, original: resource.uri, exposed: { ...resource, uri } })
      }
      for (const template of list.templates) {
        const uriTemplate = isAlone ? template.uriTemplate : this.#uniqueUri(templates, template.uriTemplate, server)
        if (!templates.has(uriTemplate))
          templates.set(uriTemplate, { server, original: template.uriTemplate, exposed: { ...template, uriTemplate } })
      }
    }
    const identity = {
      prompts: identityOf([...prompts.values()], capabilities),
      resources: identityOf([...resources.values(), ...templates.values()], capabilities),
    }
    return { prompts, resources, templates, capabilities, resourceServers, identity }
  }

  /** Prefixes a URI if an earlier server uses it, or if it has the prefix of another server. */
  #uniqueUri(taken: ReadonlyMap<string, Routed<unknown>>, uri: string, server: string): string {
    const named = parsePrefixedUri(uri)?.slug
    if (named !== undefined && this.#slugs.has(named) && named !== serverSlug(server)) return prefixedUri(serverSlug(server), uri)
    const other = taken.get(uri)
    if (other === undefined || other.server === server) return uri
    const onConflict = `${other.server}\0${server}\0${uri}`
    if (!this.#conflicts.has(onConflict) && this.#conflicts.size < maxConflicts) {
      this.#conflicts.add(onConflict)
      this.#options.onConflict(uri, other.server, server)
    }
    return prefixedUri(serverSlug(server), uri)
  }
}

const identityOf = (placed: readonly Routed<unknown>[], capabilities: DocumentCapabilities): string =>
  hash('sha256', JSON.stringify([placed, capabilities]), 'hex')

const slugsOf = ({ mcpServers }: Config): ReadonlySet<string> =>
  new Set(Object.keys(mcpServers).map((server) => serverSlug(server)))
