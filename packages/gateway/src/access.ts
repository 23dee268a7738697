import { Failure, nearest, nearestHint, printable } from '@unfold-mcp/core'
import type { ExposureOptions, PermitSource, Place, Principal } from '@unfold-mcp/server'
import type { Config, Profile, TokenRecord } from './config/schema.ts'
import { profileHas, profileReaches } from './transforms/profile.ts'

/** Who is behind a request: the holder of a token, or anybody; and which profile they see. */
export interface Client extends Principal {
  readonly token?: string
  readonly profile?: string
}

/** Who sees what of a gateway, by its configuration as it is now. */
export class Access implements PermitSource<Client> {
  #config: Config
  /** Whether clients start lazily, where whoever started the gateway decided that in place of the configuration. */
  readonly #lazy: boolean | undefined
  readonly #clients = new Map<string, Client>()
  /** Of the tokens that clients came with. */
  readonly #hashes = new WeakMap<Client, string>()
  #has = new Map<string, ReturnType<typeof profileHas>>()
  /** By profile; the empty name is for clients without one. */
  #exposures = new Map<string, ExposureOptions>()

  constructor(config: Config, lazy?: boolean) {
    this.#config = config
    this.#lazy = lazy
  }

  configure(config: Config): void {
    this.#config = config
    this.#has = new Map()
    this.#exposures = new Map()
    for (const [id, client] of this.#clients) if (!this.admits(client)) this.#clients.delete(id)
  }

  /** Whether a client that was let in would still be: its token is there and the same, or none is needed. */
  admits(client: Client): boolean {
    const { tokens } = this.#config
    if (client.token === undefined) return tokens.length === 0
    const record = tokens.find(({ name }) => name === client.token)
    if (record === undefined || record.hash !== this.#hashes.get(client)) return false
    return record.profile === undefined || record.profile === client.profile
  }

  /** Whoever asks with this token, or none, for this profile, or the one that the token is for. The same object every time. */
  client(token: TokenRecord | undefined, asked: string | undefined): Client {
    const profile = this.#profileFor(token, asked)
    const id = `${token === undefined ? 'anybody' : `token:${part(token.name)}`}${profile === undefined ? '' : `/${part(profile)}`}`
    const found = this.#clients.get(id)
    if (found !== undefined) return found
    const made: Client = { id, ...(token !== undefined && { token: token.name }), ...(profile !== undefined && { profile }) }
    this.#clients.set(id, made)
    if (token !== undefined) this.#hashes.set(made, token.hash)
    return made
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

  permits(client: Client | undefined, tool: { readonly name: string }, { source, group }: Omit<Place, 'tags'>): boolean {
    // Tools of the gateway itself are in no group, and everybody's; those of servers are in theirs.
    if (group === undefined || client?.profile === undefined) return true
    const profile = this.#profile(client)
    // A profile that is gone has nothing.
    if (profile === undefined) return false
    const has = this.#has.get(client.profile) ?? profileHas(this.#config, profile)
    this.#has.set(client.profile, has)
    return has({ source, tool })
  }

  /** Whether this client sees what a server offers beside tools. */
  reaches(client: Client | undefined, server: string): boolean {
    if (client?.profile === undefined) return true
    const profile = this.#profile(client)
    return profile !== undefined && profileReaches(this.#config, profile)(server)
  }

  version(): unknown {
    return this.#config
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

// Else the token "team/dev" would be the token "team" with the profile "dev".
const part = (name: string): string => name.replaceAll(/[%/]/gu, encodeURIComponent)
