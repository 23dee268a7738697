import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type AddressScope, addressScope, isLoopbackAddress } from './address-scope.ts'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>

const ranks: { readonly [S in AddressScope]: number } = { public: 0, private: 1, local: 2, unusable: 3 }
const places: { readonly [S in AddressScope]: string } = {
  public: 'the internet',
  private: 'a private network',
  local: 'this machine or its network link',
  unusable: 'no server',
}

const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true })

/** A URL that must not be requested. A `TypeError`, because the SDK ignores other errors during discovery and continues. */
export class AddressError extends TypeError {
  override readonly name = 'AddressError'
}

/**
 * Decides which addresses a sign-in may connect to. URLs of an authorization server come from the MCP server, which must not direct
 * requests into a network that it is not part of itself: a public server reaches public addresses, a server in a private network
 * also private ones, and only a server on this machine also this machine.
 */
export class AllowedAddresses {
  readonly #server: URL
  readonly #resolve: Resolve
  #own: Promise<readonly ResolvedAddress[]> | undefined

  constructor(server: string, resolve: Resolve = systemResolve) {
    this.#server = new URL(server)
    this.#resolve = resolve
  }

  /** Returns the addresses to connect to, and no others. Throws `AddressError` if there are none. */
  async of(url: URL): Promise<readonly ResolvedAddress[]> {
    const addresses = await this.#addressesOf(url)
    const scope = await this.#serverScope()
    const allowed = addresses.filter(({ address }) => ranks[addressScope(address)] <= ranks[scope])
    if (allowed.length === 0) {
      const [{ address } = { address: '' }] = addresses
      const where = url.hostname === address ? 'is' : `resolves to ${address},`
      throw new AddressError(
        `${url.origin} ${where} an address of ${places[addressScope(address)]}, but ${this.#server.origin} is a server on ${places[scope]}. No request was sent. Check the URL of the server, or report this to its operator.`,
      )
    }
    if (url.protocol === 'https:' || (url.protocol === 'http:' && allowed.every(({ address }) => isLoopbackAddress(address))))
      return allowed
    throw new AddressError(`${url.origin} is not encrypted. No request was sent. Only https:// URLs are used.`)
  }

  /** Resolved once, so that the server cannot be classified by one address and reached at another. */
  #ownAddresses(): Promise<readonly ResolvedAddress[]> {
    this.#own ??= resolved(this.#server.hostname, this.#resolve)
    return this.#own
  }

  #addressesOf(url: URL): Promise<readonly ResolvedAddress[]> {
    return url.hostname === this.#server.hostname ? this.#ownAddresses() : resolved(url.hostname, this.#resolve)
  }

  async #serverScope(): Promise<AddressScope> {
    const scopes = (await this.#ownAddresses()).map(({ address }) => addressScope(address))
    // One public address makes it public.
    return scopes.toSorted((a, b) => ranks[a] - ranks[b])[0] ?? 'public'
  }
}

async function resolved(hostname: string, resolve: Resolve): Promise<readonly ResolvedAddress[]> {
  // The URL parser has converted decimal, octal and hexadecimal IPv4 addresses.
  const literal = hostname.replace(/^\[|\]$/gu, '')
  const family = isIP(literal)
  const addresses = family === 0 ? await resolve(hostname) : [{ address: literal, family }]
  if (addresses.length === 0) throw new Error(`${hostname} has no address`)
  return addresses
}
