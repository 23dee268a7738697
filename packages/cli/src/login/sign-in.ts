import { randomUUID } from 'node:crypto'
import { auth, extractWWWAuthenticateParams, type FetchLike, isHttpsUrl } from '@modelcontextprotocol/client'
import { CommandError, exit, usageError } from '../base/exit.ts'
import { manifest } from '../base/package-folder.ts'
import { timeLimit } from '../base/time-limit.ts'
import { safeText } from '../text/safe.ts'
import { AddressError, AllowedAddresses } from './allowed-addresses.ts'
import { type Callback, type CallbackResult, callbackServer } from './callback.ts'
import { boundedFetch } from './fetch.ts'
import { SignInProvider } from './provider.ts'
import { isSecureUrl } from './secure-url.ts'
import { toTokens } from './stored-sign-in.ts'
import { type Grant, resourceOf, type TokenStore } from './tokens.ts'

/** How long the user has to sign in, unless --timeout says otherwise. */
export const defaultSignInMs = 300_000

export interface SignInOptions {
  /** Name in messages. */
  readonly label: string
  readonly url: string
  readonly store: TokenStore
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly scope?: string | undefined
  /** ID of a registered client, or URL of a client ID metadata document. */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  /** Opens or prints the authorization URL. */
  readonly show: (address: URL) => Promise<void>
}

export async function signIn(options: SignInOptions): Promise<Grant> {
  const { label, url, store, signal } = options
  await requireEncryption(label, url)
  using limit = timeLimit(options.timeoutMs, [signal])
  const until = limit.signal
  const addresses = new AllowedAddresses(url)
  const fetchFn = boundedFetch({ addresses, signal: until })
  const before = await store.find(url)
  await using callback = await callbackServer(before?.redirect)
  const provider = new SignInProvider({
    redirect: callback.redirect,
    ...clientFor(options, before, callback),
    scope: options.scope,
  })
  try {
    const challenge = await fetchChallenge(url, fetchFn)
    const scope = options.scope ?? challenge?.scope
    const request = {
      serverUrl: url,
      fetchFn,
      ...(challenge?.resourceMetadataUrl !== undefined && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
    }
    await startAuthorization(provider, request, label, challenge !== undefined)
    const { address } = provider
    if (address === undefined) throw failed(label, 'The server provided no authorization URL.')
    await requireSafe(address, label, addresses)
    const result = callback.waitForResult(provider.state(), until)
    await options.show(address)
    const { code, iss } = accepted(await result, label)
    await auth(provider, { ...request, authorizationCode: code, ...(iss !== undefined && { iss }) })
  } catch (error) {
    throw toLoginError(error, options, until)
  }
  const grant = toGrant(provider, url, callback.redirect)
  if (grant === undefined) throw failed(label, 'The server issued no token.')
  await store.keep(grant)
  return grant
}

/** Tokens must not be sent unencrypted. */
async function requireEncryption(label: string, address: string): Promise<void> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'http:') return
  const { isLoopback } = await import('@unfold-mcp/gateway/config')
  if (isLoopback(url.hostname)) return
  throw usageError(`${label} uses an unencrypted URL, so tokens could be intercepted. Use its https:// URL.`)
}

/** Without a client, the SDK registers one. */
function clientFor({ clientId, clientSecret }: SignInOptions, before: Grant | undefined, { redirect }: Callback) {
  if (clientId !== undefined && isHttpsUrl(clientId)) return { document: clientId }
  if (clientId !== undefined)
    return { client: { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) } }
  // A registration is valid only for its redirect URL.
  return before?.redirect === redirect ? { client: before.client } : {}
}

const initializeRequest = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'unfold', version: manifest.version } },
})

/** Challenge for an anonymous request; undefined if the server requires no authentication. */
async function fetchChallenge(
  url: string,
  fetchFn: FetchLike,
): Promise<ReturnType<typeof extractWWWAuthenticateParams> | undefined> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetchFn(url, { method: 'POST', headers, body: initializeRequest, redirect: 'manual' })
  return response.status === 401 || response.status === 403 ? extractWWWAuthenticateParams(response) : undefined
}

async function startAuthorization(
  provider: SignInProvider,
  request: Parameters<typeof auth>[1],
  label: string,
  isProtected: boolean,
): Promise<void> {
  try {
    await auth(provider, request)
  } catch (error) {
    if (provider.discovery?.authorizationServerMetadata !== undefined) throw error
    // Without metadata, the SDK registers at the server itself, which is no authorization server.
    if (isProtected && error instanceof Error && isUnregistered(error))
      throw failed(
        label,
        'It requires a token, but names no authorization server to sign in at. Pass the token as a header: Authorization: Bearer <token>.',
        error,
      )
    if (isProtected) throw error
    throw new CommandError(exit.failed, 'no_login', `${label} does not require authentication and does not support sign-in.`, {
      cause: error,
    })
  }
}

/** The URL comes from the server, so it must be an encrypted page, and not one inside a network that the server is not part of. */
async function requireSafe(address: URL, label: string, addresses: AllowedAddresses): Promise<void> {
  if (!isSecureUrl(address)) throw failed(label, `The authorization URL ${address.href} is not encrypted.`)
  try {
    await addresses.of(address)
  } catch (error) {
    // A host name that only the browser can resolve, for example through its proxy, is not an error.
    if (error instanceof AddressError) throw failed(label, `The authorization URL was not opened: ${error.message}`, error)
  }
}

function accepted(result: CallbackResult, label: string): { readonly code: string; readonly iss: string | undefined } {
  if ('code' in result) return result
  const { error, description } = result
  throw failed(label, `The authorization server returned ${error}${description === undefined ? '' : ` (${description})`}.`)
}

function toGrant({ granted, client, discovery, indicator }: SignInProvider, url: string, redirect: string): Grant | undefined {
  if (granted === undefined || client === undefined || discovery === undefined) return undefined
  const { authorizationServerUrl: authorizationServer, authorizationServerMetadata: metadata } = discovery
  return {
    id: randomUUID(),
    issuer: metadata?.issuer ?? authorizationServer,
    resource: resourceOf(url),
    ...(indicator !== undefined && { indicator }),
    client,
    redirect,
    tokens: toTokens(granted),
    authorizationServer,
    ...(metadata !== undefined && { metadata }),
  }
}

const failed = (label: string, why: string, cause?: unknown): CommandError =>
  new CommandError(exit.login, 'login_failed', `Sign-in to ${label} failed. ${safeText(why, { limit: 500 })}`, { cause })

const isUnregistered = ({ message }: Error): boolean => /dynamic client registration/iu.test(message)

function toLoginError(error: unknown, { label, signal, timeoutMs }: SignInOptions, until: AbortSignal): unknown {
  if (error instanceof CommandError || signal.aborted) return error
  if (until.aborted)
    return failed(label, `No response from the browser within ${Math.round(timeoutMs / 1_000)} seconds. Try again.`, error)
  const message =
    error instanceof Error
      ? error.cause instanceof Error
        ? `${error.message}: ${error.cause.message}`
        : error.message
      : String(error)
  const next = error instanceof Error && isUnregistered(error) ? ' Register a client and pass its ID with --client-id.' : ''
  return failed(label, `${message.replace(/\.?$/u, '.')}${next}`, error)
}
