import type { Resource, ResourceTemplateType } from '@modelcontextprotocol/server'
import { matchesTemplate, parsePrefixedUri, parseTemplate, prefixedUri, type UriTemplate } from './uris.ts'

/** A server with its resources, as one client may see them. */
export interface ResourceServer {
  readonly server: string
  readonly slug: string
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplateType[]
  /** True for a URI that the configuration assigns to this server. */
  readonly prefers: (uri: string) => boolean
}

/** A resource on the server that has it. */
export interface ResourceRoute {
  readonly server: string
  readonly original: string
}

/** Several servers have the resource, and the configuration does not choose one. */
export interface AmbiguousRoute {
  readonly ambiguous: readonly string[]
}

/** What a URI names: a resource, or the template of a completion request. */
export type UriKind = 'resources' | 'templates'

interface ParsedTemplate {
  readonly server: string
  readonly template: UriTemplate
}

export interface ResourceRoutesOptions {
  /** A client of a single server uses the original URIs. */
  readonly isAlone: boolean
  /** True for the slug of a configured server. */
  readonly isSlug: (slug: string) => boolean
}

const maxUriLength = 8_192

/**
 * Decides which server a URI belongs to. A server that lists exactly this URI has it; otherwise the servers with a matching template
 * do. If there are several, the configuration has to choose: no server can take over the resources of another.
 */
export class ResourceRoutes {
  readonly #servers: readonly ResourceServer[]
  readonly #bySlug: ReadonlyMap<string, string>
  readonly #owners: { readonly [K in UriKind]: ReadonlyMap<string, readonly string[]> }
  readonly #templates: readonly ParsedTemplate[]
  readonly #options: ResourceRoutesOptions

  constructor(servers: readonly ResourceServer[], options: ResourceRoutesOptions) {
    this.#servers = servers
    this.#options = options
    this.#bySlug = new Map(servers.map(({ slug, server }) => [slug, server]))
    this.#owners = {
      resources: ownersOf(servers, 'resources'),
      templates: ownersOf(servers, 'templates'),
    }
    this.#templates = servers.flatMap(({ server, templates }) =>
      templates.map(({ uriTemplate }) => ({ server, template: parseTemplate(uriTemplate) })),
    )
  }

  /** Returns the URI under which a listed resource or template of a server is shown. */
  exposedUri({ server, slug }: Pick<ResourceServer, 'server' | 'slug'>, uri: string, kind: UriKind): string {
    if (this.#options.isAlone) return uri
    const named = parsePrefixedUri(uri)?.slug
    const isOfOther = named !== undefined && named !== slug && this.#options.isSlug(named)
    const isChosen = this.#choose(this.#owners[kind].get(uri) ?? [server], uri) === server
    return isOfOther || !isChosen ? prefixedUri(slug, uri) : uri
  }

  /** True if a server lists exactly this URI. */
  isListed(uri: string): boolean {
    return this.#owners.resources.has(uri)
  }

  /** Finds the server of a URI that a client sent; `undefined` if no server can have it. */
  of(uri: string, kind: UriKind = 'resources'): ResourceRoute | AmbiguousRoute | undefined {
    if (uri.length > maxUriLength) return undefined
    const owners = this.#owners[kind].get(uri) ?? []
    const owner = this.#choose(owners, uri)
    const isShown = this.#servers.some((each) => each.server === owner && this.exposedUri(each, uri, kind) === uri)
    if (owner !== undefined && isShown) return { server: owner, original: uri }
    const named = parsePrefixedUri(uri)
    const server = named === undefined ? undefined : this.#bySlug.get(named.slug)
    if (named !== undefined && server !== undefined) return { server, original: named.uri }
    if (owners.length > 0) return this.#routeTo(owners, uri)
    const matching = new Set(this.#templates.filter(({ template }) => matchesTemplate(template, uri)).map((each) => each.server))
    if (matching.size > 0) return this.#routeTo([...matching], uri)
    const [only, another] = this.#servers
    // An unlisted URI is only unambiguous with a single server.
    return only !== undefined && another === undefined ? { server: only.server, original: uri } : undefined
  }

  #routeTo(servers: readonly string[], uri: string): ResourceRoute | AmbiguousRoute {
    const server = this.#choose(servers, uri)
    return server === undefined ? { ambiguous: servers } : { server, original: uri }
  }

  /** Returns the only server, or the only one that the configuration prefers. */
  #choose(servers: readonly string[], uri: string): string | undefined {
    const candidates = servers.length === 1 ? servers : preferredServers(this.#servers, servers, uri)
    return candidates.length === 1 ? candidates[0] : undefined
  }
}

/** Returns those of `names` that the configuration prefers for a URI. */
export function preferredServers(
  servers: readonly Pick<ResourceServer, 'server' | 'prefers'>[],
  names: readonly string[],
  uri: string,
): readonly string[] {
  return servers.flatMap(({ server, prefers }) => (names.includes(server) && prefers(uri) ? [server] : []))
}

/** Returns the servers that list each URI or template, in the order of `servers`. */
export function ownersOf(servers: readonly ResourceServer[], kind: UriKind): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string[]>()
  for (const { server, resources, templates } of servers) {
    const uris = kind === 'resources' ? resources.map(({ uri }) => uri) : templates.map(({ uriTemplate }) => uriTemplate)
    for (const uri of new Set(uris)) {
      const others = owners.get(uri)
      if (others === undefined) owners.set(uri, [server])
      else others.push(server)
    }
  }
  return owners
}
