import type { AuthProvider } from '@modelcontextprotocol/client'
import { dataFolder, type Io } from '../base/io.ts'
import { type Grant, type TokenStore, type Tokens, tokenStore } from './tokens.ts'

// A token must not expire during a request.
const refreshMarginMs = 30_000

export interface SignedIn {
  readonly id: string
  readonly auth: AuthProvider
}

export interface StoredOptions {
  readonly warn: (message: string) => void
  /** Receives the secrets to redact from logs, also after a refresh. */
  readonly hide?: ((secrets: readonly string[]) => void) | undefined
}

export async function storedSignIn(
  address: string,
  io: Pick<Io, 'env' | 'home' | 'platform' | 'signal'>,
  { warn, hide }: StoredOptions,
): Promise<SignedIn | undefined> {
  const store = tokenStore(dataFolder(io), warn)
  const grant = URL.canParse(address) ? await store.find(address) : undefined
  return grant === undefined ? undefined : { id: grant.id, auth: new StoredAuth(grant, store, { signal: io.signal, hide }) }
}

interface AuthOptions extends Pick<StoredOptions, 'hide'> {
  readonly signal: AbortSignal
}

class StoredAuth implements AuthProvider {
  readonly #store: TokenStore
  readonly #options: AuthOptions
  #grant: Grant

  constructor(grant: Grant, store: TokenStore, options: AuthOptions) {
    this.#grant = grant
    this.#store = store
    this.#options = options
    this.#hide()
  }

  async token(): Promise<string | undefined> {
    const { expiresAt = Number.POSITIVE_INFINITY, refresh } = this.#grant.tokens
    if (refresh !== undefined && expiresAt - refreshMarginMs < Date.now()) await this.#renew()
    return this.#grant.tokens.access
  }

  /** Called by the SDK after a 401: refreshes the token or throws. */
  async onUnauthorized(): Promise<void> {
    await this.#renew()
  }

  async #renew(): Promise<void> {
    const renewed = await this.#store.renew(this.#grant, (current) => refreshed(current, this.#options.signal))
    if (renewed === undefined) {
      const { UnauthorizedError } = await import('@modelcontextprotocol/client')
      throw new UnauthorizedError('The sign-in has expired.')
    }
    this.#grant = renewed
    this.#hide()
  }

  #hide(): void {
    const { tokens, client } = this.#grant
    this.#options.hide?.([tokens.access, tokens.refresh, client.client_secret].filter((each) => each !== undefined))
  }
}

// OAuth errors for an ended sign-in or an unknown client.
const endedErrors = new Set<string>(['invalid_client', 'invalid_grant', 'unauthorized_client'])

/** Undefined if the sign-in has ended. */
async function refreshed(
  { resource, tokens, client, authorizationServer, metadata, indicator }: Grant,
  signal: AbortSignal,
): Promise<Tokens | undefined> {
  if (tokens.refresh === undefined) return undefined
  const { OAuthError, refreshAuthorization } = await import('@modelcontextprotocol/client')
  const [{ AllowedAddresses }, { boundedFetch }] = await Promise.all([import('./allowed-addresses.ts'), import('./fetch.ts')])
  try {
    const fresh = await refreshAuthorization(authorizationServer, {
      ...(metadata !== undefined && { metadata }),
      clientInformation: client,
      refreshToken: tokens.refresh,
      ...(indicator !== undefined && { resource: indicator }),
      fetchFn: boundedFetch({ addresses: new AllowedAddresses(resource), signal }),
    })
    return toTokens(fresh, tokens)
  } catch (error) {
    if (error instanceof OAuthError && endedErrors.has(error.code)) return undefined
    throw error
  }
}

/** Values missing from a refresh response keep their previous value. */
export function toTokens(
  response: {
    readonly access_token: string
    readonly refresh_token?: string | undefined
    readonly scope?: string | undefined
    readonly expires_in?: number | undefined
  },
  before?: Tokens,
): Tokens {
  const refresh = response.refresh_token ?? before?.refresh
  const scope = response.scope ?? before?.scope
  return {
    access: response.access_token,
    ...(refresh !== undefined && { refresh }),
    ...(scope !== undefined && { scope }),
    ...(response.expires_in !== undefined && { expiresAt: Date.now() + response.expires_in * 1_000 }),
  }
}
