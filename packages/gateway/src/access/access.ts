import { Failure, nearest, nearestHint, printable } from '@unfold-mcp/core'
import type { ExposureOptions, PermitSource, Place, Principal, Remember } from '@unfold-mcp/server'
import type { SearchSettings } from '@unfold-mcp/server/search'
import { mcpPath, serverSegment } from '../base/mcp-path.ts'
import { profilePermits, profileNamesTools, profileIncludesServer } from '../catalog/profile.ts'
import type { Config, Profile, TokenRecord } from '../config/schema.ts'
import { SearchSettingsCache } from './search-settings.ts'

/** Who is behind a request: the holder of a token, or anybody; and what they are connected to. */
export interface Client extends Principal {
  readonly token?: string
  readonly profile?: string
  /** The server that it is connected to alone, under its own names; all of them when this is left out. */
  readonly server?: string
}

export interface AccessOptions {
  /** The names that clients of all servers see the tools of one under. */
  readonly toolsOf?: (server: string) => Iterable<string>
  /** Whether clients start lazily, in place of what the configuration says. */
  readonly lazy?: boolean | undefined
}

/** Who sees what of a gateway, by its configuration as it is now. */
export class Access implements PermitSource<Client> {
  #config: Config
  /** Whether clients start lazily, where whoever started the gateway decided that in place of the configuration. */
  readonly #lazy: boolean | undefined
  readonly #clients = new Map<string, Client>()
  /** Of the tokens that clients came with. */
  readonly #hashes = new WeakMap<Client, string>()
  readonly #toolsOf: NonNullable<AccessOptions['toolsOf']>
  readonly #searches = new SearchSettingsCache()
  #has = new Map<string, ReturnType<typeof profilePermits>>()
  /** By profile; the empty name is for clients without one. */
  #exposures = new Map<string, ExposureOptions>()

  constructor(config: Config, { toolsOf = () => [], lazy }: AccessOptions = {}) {
    this.#config = config
    this.#toolsOf = toolsOf
    this.#lazy = lazy
  }

  configure(config: Config): void {
    this.#config = config
    this.#has = new Map()
    this.#exposures = new Map()
    this.#searches.retain([config.search, ...Object.values(config.profiles).flatMap(({ search }) => search ?? [])])
    for (const [id, client] of this.#clients) if (!this.admits(client)) this.#clients.delete(id)
  }

  /** Whether a client that was let in would still be: its token is there and the same, or none is needed, and so is its server. */
  admits(client: Client): boolean {
    const { tokens } = this.#config
    if (client.server !== undefined && !this.hasServer(client, client.server)) return false
    if (client.token === undefined) return tokens.length === 0
    const record = tokens.find(({ name }) => name === client.token)
    if (record === undefined || record.hash !== this.#hashes.get(client)) return false
    return record.profile === undefined || record.profile === client.profile
  }

  /**
   * Whoever asks with this token, or none, for this profile, or the one that the token is for, and for all servers or one. The
   * same object every time.
   */
  client(token: TokenRecord | undefined, asked: string | undefined, server?: string): Client {
    const profile = this.#profileFor(token, asked)
    const holder = `${token === undefined ? 'anybody' : `token:${part(token.name)}`}${profile === undefined ? '' : `/${part(profile)}`}`
    // No profile is called like the segment, so this is nobody else's.
    const id = server === undefined ? holder : `${holder}/${serverSegment}/${part(server)}`
    const found = this.#clients.get(id)
    const client: Client = found ?? {
      id,
      ...(token !== undefined && { token: token.name }),
      ...(profile !== undefined && { profile }),
      ...(server !== undefined && { server }),
    }
    if (server !== undefined && !this.hasServer(client, server)) throw this.#unknownServer(client, server)
    if (found !== undefined) return found
    this.#clients.set(id, client)
    if (token !== undefined) this.#hashes.set(client, token.hash)
    return client
  }

  /** How this client is presented the tools unless its address asks otherwise: as its profile says, else as the file does. */
  readonly exposure = (client: Client | undefined): ExposureOptions => {
    const name = client?.profile ?? ''
    const found = this.#exposures.get(name)
    if (found !== undefined) return found
    const configured = { ...exposureOf(this.#config), ...exposureOf(this.#profile(client) ?? {}) }
    const made = { ...configured, ...this.#lazyMode(configured.mode) }
    this.#exposures.set(name, made)
    return made
  }

  #lazyMode(configured: ExposureOptions['mode']): Pick<ExposureOptions, 'mode'> {
    if (this.#lazy === true) return { mode: 'lazy' }
    return this.#lazy === false && configured === 'lazy' ? { mode: 'auto' } : {}
  }

  /** How long what this client activates is kept. */
  readonly remember = (client: Client | undefined): Remember => this.#profile(client)?.remember ?? this.#config.remember

  /** How search goes beyond words for this client. */
  readonly search = (client: Client | undefined): SearchSettings =>
    this.#searches.of(this.#profile(client)?.search ?? this.#config.search)

  permits(client: Client | undefined, tool: { readonly name: string }, { source, group }: Omit<Place, 'tags'>): boolean {
    // Tools of the gateway itself are in no group, and everybody's; those of servers are in theirs.
    if (group === undefined) return true
    if (client?.server !== undefined && client.server !== source) return false
    if (client?.profile === undefined) return true
    const profile = this.#profile(client)
    // A profile that is gone has nothing.
    if (profile === undefined) return false
    const has = this.#has.get(client.profile) ?? profilePermits(this.#config, profile)
    this.#has.set(client.profile, has)
    return has({ source, tool })
  }

  /** Whether this client sees what a server offers beside tools. */
  permitsServer(client: Client | undefined, server: string): boolean {
    if (client?.server !== undefined && client.server !== server) return false
    if (client?.profile === undefined) return true
    const profile = this.#profile(client)
    return profile !== undefined && profileIncludesServer(this.#config, profile)(server)
  }

  /** Whether a server exists for this client: it has that server as a whole, or some of its tools. */
  hasServer(client: Client, server: string): boolean {
    const { mcpServers } = this.#config
    const config = Object.hasOwn(mcpServers, server) ? mcpServers[server] : undefined
    if (config === undefined || config.disabled) return false
    if (this.permitsServer(client, server)) return true
    const profile = this.#profile(client)
    if (profile === undefined) return false
    // The tools of a server that has yet to start are not known, but a profile that names them says that there is such a server.
    if (profileNamesTools(profile, server, config)) return true
    for (const name of this.#toolsOf(server)) if (this.permits(client, { name }, { source: server, group: server })) return true
    return false
  }

  version(): unknown {
    return this.#config
  }

  #unknownServer(client: Client, server: string): Failure {
    const known = Object.keys(this.#config.mcpServers).filter((each) => this.hasServer({ ...client, server: each }, each))
    const near = nearest(server, known).map((each) => printable(each))
    const name = printable(server)
    const message =
      server === ''
        ? `The address names no server. Write ${mcpPath}/${serverSegment}/<server>.${knownHint(known)}`
        : `There is no server "${name}" here.${nearestHint(near)}`
    return new Failure('unknown_server', message, { server: name, nearest: near })
  }

  #profile(client: Client | undefined): Config['profiles'][string] | undefined {
    const name = client?.profile
    return name !== undefined && Object.hasOwn(this.#config.profiles, name) ? this.#config.profiles[name] : undefined
  }

  /** A token that is for one profile shows no other. */
  #profileFor(token: TokenRecord | undefined, asked: string | undefined): string | undefined {
    const profile = asked ?? token?.profile
    if (profile === undefined) return undefined
    const isAllowed = token?.profile === undefined || token.profile === profile
    if (isAllowed && Object.hasOwn(this.#config.profiles, profile)) return profile
    const known = token?.profile === undefined ? Object.keys(this.#config.profiles) : [token.profile]
    throw new Failure(
      'unknown_profile',
      `There is no profile "${printable(profile)}" here.${nearestHint(nearest(profile, known))}`,
      {
        profile: printable(profile),
        nearest: nearest(profile, known),
      },
    )
  }
}

/** The settings of one level. What `exposure` has as an object wins over the same key next to it. */
function exposureOf({
  exposure,
  budgetTokens,
  callVariants,
  order,
  hostHints,
  host,
}: Partial<Config> | Profile): ExposureOptions {
  const inside = typeof exposure === 'object' ? exposure : { mode: exposure }
  const all = { budgetTokens, callVariants, order, hostHints, host, ...defined(inside) }
  return defined(all)
}

const defined = (settings: object): ExposureOptions =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))

const knownHint = (names: readonly string[]): string =>
  names.length === 0
    ? ''
    : ` Servers: ${names
        .slice(0, 20)
        .map((name) => printable(name))
        .join(', ')}.`

// Else the token "team/dev" would be the token "team" with the profile "dev".
const part = (name: string): string => name.replaceAll(/[%/]/gu, encodeURIComponent)
