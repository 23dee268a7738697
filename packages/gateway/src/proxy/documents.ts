import { hash } from 'node:crypto'
import type { Prompt, Resource, ResourceTemplateType } from '@modelcontextprotocol/server'
import type { Access, Client } from '../access/access.ts'
import type { Config } from '../config/schema.ts'
import { exposedName, serverSlug } from '../names/naming.ts'
import { matcher } from '../names/pattern.ts'
import type { DocumentCapabilities, DocumentList } from './document-list.ts'
import { findConflicts, type ResourceConflict } from './resource-conflicts.ts'
import { type AmbiguousRoute, type ResourceRoute, ResourceRoutes, type ResourceServer, type UriKind } from './resource-routes.ts'
import { prefixedUri } from './uris.ts'

/** A prompt, resource or template with its server and its name or URI there. */
interface Routed<T> {
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
  readonly routes: ResourceRoutes
  /** Changes exactly when the list does. */
  readonly identity: { readonly prompts: string; readonly resources: string }
}

/** What a server offers to clients. */
export interface ListedDocuments extends Pick<DocumentList, 'capabilities'> {
  /** `undefined` if the server is held. Its capabilities are declared anyway, because a session declares them only once. */
  readonly admitted: Pick<DocumentList, 'prompts' | 'resources' | 'templates'> | undefined
}

export interface DocumentsOptions {
  readonly access: Access
  readonly listOf: (server: string) => ListedDocuments | undefined
  /** Called once for each pair of servers whose resources conflict. */
  readonly onConflict: (conflict: ResourceConflict) => void
}

/** Equal for clients with the same view. */
export const viewKey = (client: Client | undefined): string => JSON.stringify([client?.profile ?? null, client?.server ?? null])

/**
 * Merges the prompts and resources of all servers for each client, in the order of the configuration and with unique names. A client
 * of a single server sees the original names and URIs.
 */
export class Documents {
  readonly #options: DocumentsOptions
  /** Conflicts that were reported, by servers and kind. */
  readonly #reported = new Set<string>()
  #config: Config
  #slugs: ReadonlySet<string>
  #preferences: ReadonlyMap<string, (uri: string) => boolean>
  #views = new Map<string, DocumentView>()
  #conflicts: readonly ResourceConflict[] | undefined

  constructor(config: Config, options: DocumentsOptions) {
    this.#config = config
    this.#slugs = slugsOf(config)
    this.#preferences = preferencesOf(config)
    this.#options = options
  }

  configure(config: Config): void {
    this.#config = config
    this.#slugs = slugsOf(config)
    this.#preferences = preferencesOf(config)
    this.#reported.clear()
    this.invalidate()
  }

  invalidate(): void {
    this.#views = new Map()
    this.#conflicts = undefined
  }

  view(client: Client | undefined): DocumentView {
    const key = viewKey(client)
    const cached = this.#views.get(key)
    if (cached !== undefined) return cached
    const view = this.#build(client)
    this.#views.set(key, view)
    return view
  }

  /** Finds the server of a resource, or of the template of a completion request. */
  route(client: Client | undefined, uri: string, kind?: UriKind): ResourceRoute | AmbiguousRoute | undefined {
    return this.view(client).routes.of(uri, kind)
  }

  /** Returns the URI under which a client reads a resource of a server. */
  clientUri(client: Client | undefined, server: string, uri: string): string {
    const { routes } = this.view(client)
    // People open web links outside the gateway, so a template of another server does not change them.
    if (/^https?:/iu.test(uri) && !routes.isListed(uri)) return uri
    const route = routes.of(uri)
    const isSame = route === undefined || ('server' in route && route.server === server && route.original === uri)
    return isSame ? uri : prefixedUri(serverSlug(server), uri)
  }

  /** Conflicts between all enabled servers. */
  get conflicts(): readonly ResourceConflict[] {
    this.#conflicts ??= findConflicts(this.#resourceServers(() => true))
    return this.#conflicts
  }

  /** Reports conflicts that were not reported since the configuration changed. */
  reportConflicts(): void {
    for (const conflict of this.conflicts) {
      const key = JSON.stringify([conflict.servers, conflict.kind])
      if (this.#reported.has(key)) continue
      this.#reported.add(key)
      this.#options.onConflict(conflict)
    }
  }

  #resourceServers(isVisible: (server: string) => boolean): readonly ResourceServer[] {
    return Object.entries(this.#config.mcpServers).flatMap(([server, { disabled }]) => {
      const list = disabled || !isVisible(server) ? undefined : this.#options.listOf(server)
      if (list?.capabilities.resources !== true || list.admitted === undefined) return []
      const { resources, templates } = list.admitted
      return [{ server, slug: serverSlug(server), resources, templates, prefers: this.#preferences.get(server) ?? (() => false) }]
    })
  }

  #build(client: Client | undefined): DocumentView {
    const { access, listOf } = this.#options
    const isAlone = client?.server !== undefined
    const prompts = new Map<string, Routed<Prompt>>()
    const resources = new Map<string, Routed<Resource>>()
    const templates = new Map<string, Routed<ResourceTemplateType>>()
    const resourceServers = this.#resourceServers((server) => access.permitsServer(client, server))
    const routes = new ResourceRoutes(resourceServers, { isAlone, isSlug: (slug) => this.#slugs.has(slug) })
    const capabilities = { prompts: false, resources: false, subscribe: false, completions: false }
    for (const [server, { disabled }] of Object.entries(this.#config.mcpServers)) {
      const list = disabled || !access.permitsServer(client, server) ? undefined : listOf(server)
      if (list === undefined) continue
      const slug = serverSlug(server)
      for (const key of Object.keys(capabilities) as (keyof DocumentCapabilities)[]) capabilities[key] ||= list.capabilities[key]
      for (const prompt of list.admitted?.prompts ?? []) {
        const shared = exposedName(slug, prompt.name)
        const isPermitted = access.permits(client, { name: shared }, { source: server, group: slug })
        const name = isAlone ? prompt.name : shared
        if (isPermitted && !prompts.has(name)) prompts.set(name, { server, original: prompt.name, exposed: { ...prompt, name } })
      }
    }
    for (const each of resourceServers) {
      const { server } = each
      for (const resource of each.resources) {
        const uri = routes.exposedUri(each, resource.uri, 'resources')
        if (!resources.has(uri)) resources.set(uri, { server, original: resource.uri, exposed: { ...resource, uri } })
      }
      for (const template of each.templates) {
        const uriTemplate = routes.exposedUri(each, template.uriTemplate, 'templates')
        if (!templates.has(uriTemplate))
          templates.set(uriTemplate, { server, original: template.uriTemplate, exposed: { ...template, uriTemplate } })
      }
    }
    const identity = {
      prompts: identityOf([...prompts.values()], capabilities),
      resources: identityOf([...resources.values(), ...templates.values()], capabilities),
    }
    return { prompts, resources, templates, capabilities, routes, identity }
  }
}

const identityOf = (placed: readonly Routed<unknown>[], capabilities: DocumentCapabilities): string =>
  hash('sha256', JSON.stringify([placed, capabilities]), 'hex')

const slugsOf = ({ mcpServers }: Config): ReadonlySet<string> =>
  new Set(Object.keys(mcpServers).map((server) => serverSlug(server)))

const preferencesOf = ({ mcpServers }: Config): ReadonlyMap<string, (uri: string) => boolean> =>
  new Map(Object.entries(mcpServers).map(([server, { preferResources }]) => [server, matcher(preferResources)]))
