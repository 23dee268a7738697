import { Failure, nearest, nearestHint, printable } from '@unfold-mcp/core'
import type { ExposureOptions, PermitSource, Place, Principal, Remember } from '@unfold-mcp/server'
import type { SearchSettings } from '@unfold-mcp/server/search'
import { mcpPath, serverSegment } from '../base/mcp-path.ts'
import { profileIncludesServer, profileNamesTools, profilePermits } from '../catalog/profile.ts'
import type { Config, Profile, TokenRecord } from '../config/schema.ts'
import { hasClientTokens } from '../config/tokens.ts'
import { SearchSettingsCache } from './search-settings.ts'

/** The principal of a request: the holder of a token, or anonymous. */
export interface Client extends Principal {
  readonly token?: string
  readonly profile?: string
  /** Set when the client connected to a single server (`/mcp/s/<server>`). */
  readonly server?: string
}

export interface AccessOptions {
  /** The exposed names of a server's tools. */
  readonly toolsOf?: (server: string) => Iterable<string>
  /** Overrides lazy mode for all clients. */
  readonly lazy?: boolean | undefined
}

/** Decides what each client may see, from the current configuration. */
export class Access implements PermitSource<Client> {
  #config: Config
  readonly #lazy: boolean | undefined
  readonly #clients = new Map<string, Client>()
  /** Hash of the token each client authenticated with. */
  readonly #hashes = new WeakMap<Client, string>()
  readonly #toolsOf: NonNullable<AccessOptions['toolsOf']>
  readonly #searchSettings = new SearchSettingsCache()
  #toolFilters = new Map<string, ReturnType<typeof profilePermits>>()
  /** By profile; the empty name stands for clients without a profile. */
  #exposures = new Map<string, ExposureOptions>()

  constructor(config: Config, { toolsOf = () => [], lazy }: AccessOptions = {}) {
    this.#config = config
    this.#toolsOf = toolsOf
    this.#lazy = lazy
  }

  configure(config: Config): void {
    this.#config = config
    this.#toolFilters = new Map()
    this.#exposures = new Map()
    this.#searchSettings.retain([config.search, ...Object.values(config.profiles).flatMap(({ search }) => search ?? [])])
    for (const [id, client] of this.#clients) if (!this.admits(client)) this.#clients.delete(id)
  }

  /** True while the client's token, profile and server are still valid. */
  admits(client: Client): boolean {
    const { tokens } = this.#config
    if (client.server !== undefined && !this.hasServer(client, client.server)) return false
    if (client.token === undefined) return !hasClientTokens(tokens)
    const record = tokens.find(({ name }) => name === client.token)
    if (record === undefined || record.hash !== this.#hashes.get(client) || record.role !== undefined) return false
    return record.profile === undefined || record.profile === client.profile
  }

  /** Returns the client for a token, profile and server; the same object for the same arguments. */
  client(token: TokenRecord | undefined, requestedProfile: string | undefined, server?: string): Client {
    const profile = this.#profileFor(token, requestedProfile)
    const principal = token === undefined ? 'anonymous' : `token:${escapeIdPart(token.name)}`
    const base = profile === undefined ? principal : `${principal}/${escapeIdPart(profile)}`
    // The configuration reserves the segment, so no profile can produce the same id.
    const id = server === undefined ? base : `${base}/${serverSegment}/${escapeIdPart(server)}`
    const existing = this.#clients.get(id)
    const client: Client = existing ?? {
      id,
      ...(token !== undefined && { token: token.name }),
      ...(profile !== undefined && { profile }),
      ...(server !== undefined && { server }),
    }
    if (server !== undefined && !this.hasServer(client, server)) throw this.#unknownServer(client, server)
    if (existing !== undefined) return existing
    this.#clients.set(id, client)
    if (token !== undefined) this.#hashes.set(client, token.hash)
    return client
  }

  /** Exposure settings of the client's profile, falling back to those of the file. */
  readonly exposure = (client: Client | undefined): ExposureOptions => {
    const name = client?.profile ?? ''
    const cached = this.#exposures.get(name)
    if (cached !== undefined) return cached
    const configured = { ...exposureOf(this.#config), ...exposureOf(this.#profile(client) ?? {}) }
    const exposure = { ...configured, ...this.#lazyMode(configured.mode) }
    this.#exposures.set(name, exposure)
    return exposure
  }

  #lazyMode(configured: ExposureOptions['mode']): Pick<ExposureOptions, 'mode'> {
    if (this.#lazy === true) return { mode: 'lazy' }
    return this.#lazy === false && configured === 'lazy' ? { mode: 'auto' } : {}
  }

  readonly remember = (client: Client | undefined): Remember => this.#profile(client)?.remember ?? this.#config.remember

  readonly search = (client: Client | undefined): SearchSettings =>
    this.#searchSettings.get(this.#profile(client)?.search ?? this.#config.search)

  permits(client: Client | undefined, tool: { readonly name: string }, { source, group }: Omit<Place, 'tags'>): boolean {
    // The gateway's own tools have no group, and every client may use them.
    if (group === undefined) return true
    if (client?.server !== undefined && client.server !== source) return false
    if (client?.profile === undefined) return true
    const profile = this.#profile(client)
    // The profile was removed from the configuration.
    if (profile === undefined) return false
    const isPermitted = this.#toolFilters.get(client.profile) ?? profilePermits(this.#config, profile)
    this.#toolFilters.set(client.profile, isPermitted)
    return isPermitted({ source, tool })
  }

  /** True if the client may use the whole server, including its prompts and resources. */
  permitsServer(client: Client | undefined, server: string): boolean {
    if (client?.server !== undefined && client.server !== server) return false
    if (client?.profile === undefined) return true
    const profile = this.#profile(client)
    return profile !== undefined && profileIncludesServer(this.#config, profile)(server)
  }

  /** True if the client may use the server, or at least one of its tools. */
  hasServer(client: Client, server: string): boolean {
    const { mcpServers } = this.#config
    const config = Object.hasOwn(mcpServers, server) ? mcpServers[server] : undefined
    if (config === undefined || config.disabled) return false
    if (this.permitsServer(client, server)) return true
    const profile = this.#profile(client)
    if (profile === undefined) return false
    // The tools of a server that has not started are unknown, so go by the names in the profile.
    if (profileNamesTools(profile, server, config)) return true
    for (const name of this.#toolsOf(server)) if (this.permits(client, { name }, { source: server, group: server })) return true
    return false
  }

  version(): unknown {
    return this.#config
  }

  #unknownServer(client: Client, server: string): Failure {
    const visible = Object.keys(this.#config.mcpServers).filter((each) => this.hasServer({ ...client, server: each }, each))
    const near = nearest(server, visible).map((each) => printable(each))
    const name = printable(server)
    const message =
      server === ''
        ? `The URL does not name a server. Use ${mcpPath}/${serverSegment}/<server>.${serversHint(visible)}`
        : `Unknown server "${name}".${nearestHint(near)}`
    return new Failure('unknown_server', message, { server: name, nearest: near })
  }

  #profile(client: Client | undefined): Config['profiles'][string] | undefined {
    const name = client?.profile
    return name !== undefined && Object.hasOwn(this.#config.profiles, name) ? this.#config.profiles[name] : undefined
  }

  #profileFor(token: TokenRecord | undefined, requested: string | undefined): string | undefined {
    const profile = requested ?? token?.profile
    if (profile === undefined) return undefined
    const isAllowed = token?.profile === undefined || token.profile === profile
    if (isAllowed && Object.hasOwn(this.#config.profiles, profile)) return profile
    const near = nearest(profile, token?.profile === undefined ? Object.keys(this.#config.profiles) : [token.profile])
    const name = printable(profile)
    throw new Failure('unknown_profile', `Unknown profile "${name}".${nearestHint(near)}`, { profile: name, nearest: near })
  }
}

/** Keys inside an `exposure` object win over the flat keys of the same level. */
function exposureOf({
  exposure,
  budgetTokens,
  callVariants,
  code,
  order,
  hostHints,
  host,
}: Partial<Config> | Profile): ExposureOptions {
  const nested = typeof exposure === 'object' ? exposure : { mode: exposure }
  const listsCode = typeof code === 'object' ? code.listed : code
  return defined({ budgetTokens, callVariants, code: listsCode, order, hostHints, host, ...defined(nested) })
}

const defined = (settings: object): ExposureOptions =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))

const serversHint = (names: readonly string[]): string =>
  names.length === 0
    ? ''
    : ` Servers: ${names
        .slice(0, 20)
        .map((name) => printable(name))
        .join(', ')}.`

// Without escaping, the token "team/dev" would get the id of the token "team" with the profile "dev".
const escapeIdPart = (name: string): string => name.replaceAll(/[%/]/gu, encodeURIComponent)
