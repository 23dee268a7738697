import { randomUUID } from 'node:crypto'
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from '@modelcontextprotocol/client'

export interface ProviderOptions {
  readonly redirect: string
  /** Existing client: from --client-id, or registered earlier. */
  readonly client?: OAuthClientInformationMixed | undefined
  /** URL of a client ID metadata document. */
  readonly document?: string | undefined
  readonly scope?: string | undefined
}

/** State of one sign-in for the SDK. */
export class SignInProvider implements OAuthClientProvider {
  readonly redirectUrl: string
  readonly clientMetadataUrl?: string
  readonly clientMetadata: OAuthClientMetadata
  readonly #state = randomUUID()
  #verifier = ''
  client: OAuthClientInformationMixed | undefined
  /** Authorization URL. */
  address: URL | undefined
  granted: OAuthTokens | undefined
  discovery: OAuthDiscoveryState | undefined
  indicator: string | undefined

  constructor({ redirect, client, document, scope }: ProviderOptions) {
    this.redirectUrl = redirect
    this.client = client
    if (document !== undefined) this.clientMetadataUrl = document
    this.clientMetadata = {
      client_name: 'Unfold',
      redirect_uris: [redirect],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...(scope !== undefined && { scope }),
    }
  }

  state(): string {
    return this.#state
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.client
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.client = client
  }

  /** A sign-in always requests new tokens. */
  tokens(): undefined {
    return undefined
  }

  saveTokens(tokens: OAuthTokens): void {
    this.granted = tokens
  }

  redirectToAuthorization(address: URL): void {
    this.address = address
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.discovery = state
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.discovery
  }

  saveResourceUrl(indicator: string): void {
    this.indicator = indicator
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'client') this.client = undefined
  }
}
