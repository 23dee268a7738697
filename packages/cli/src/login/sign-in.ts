import { randomUUID } from 'node:crypto'
import { auth, extractWWWAuthenticateParams, type FetchLike, isHttpsUrl } from '@modelcontextprotocol/client'
import { CommandError, exit } from '../base/exit.ts'
import { manifest } from '../base/package-folder.ts'
import { timeLimit } from '../base/time-limit.ts'
import { safeText } from '../text/safe.ts'
import { type Callback, type CallbackResult, callbackServer } from './callback.ts'
import { boundedFetch } from './fetch.ts'
import { SignInProvider } from './provider.ts'
import { isSecureUrl } from './secure-url.ts'
import { toTokens } from './stored-sign-in.ts'
import { type Grant, resourceOf, type TokenStore } from './tokens.ts'

export interface SignInOptions {
  /** Name in messages. */
  readonly label: string
  readonly url: string
  readonly store: TokenStore
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly scope: string | undefined
  /** ID of a registered client, or URL of a client ID metadata document. */
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  /** Opens or prints the authorization URL. */
  readonly show: (address: URL) => Promise<void>
}

export async function signIn(options: SignInOptions): Promise<Grant> {
  const { label, url, store, signal } = options
  using limit = timeLimit(options.timeoutMs, [signal])
  const until = limit.signal
  const fetchFn = boundedFetch(until)
  const before = await store.find(url)
  await using callback = await callbackServer(before?.redirect)
  const provider = new SignInProvider({
    redirect: callback.redirect,
    ...clientFor(options, before, callback),
    scope: options.scope,
  })
  try {
    const challenge = await fetchChallenge(url, fetchFn)
    const ask = {
      serverUrl: url,
      fetchFn,
      ...(challenge?.resourceMetadataUrl !== undefined && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
      ...scopeFor(options.scope, challenge?.scope),
    }
    await startAuthorization(provider, ask, label, challenge !== undefined)
    const { address } = provider
    if (address === undefined) throw failed(label, 'It gave no address to sign in at.')
    requireSafe(address, label)
    const returned = callback.returned(provider.state(), until)
    await options.show(address)
    const { code, iss } = accepted(await returned, label)
    await auth(provider, { ...ask, authorizationCode: code, ...(iss !== undefined && { iss }) })
  } catch (error) {
    throw toLoginError(error, options, until)
  }
  const grant = toGrant(provider, url, callback.redirect)
  if (grant === undefined) throw failed(label, 'It gave no token.')
  await store.keep(grant)
  return grant
}

/** Without a client, the SDK registers one. */
function clientFor({ clientId, clientSecret }: SignInOptions, before: Grant | undefined, { redirect }: Callback) {
  if (clientId !== undefined && isHttpsUrl(clientId)) return { document: clientId }
  if (clientId !== undefined)
    return { client: { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) } }
  // A registration is valid only for its redirect URL.
  return before?.redirect === redirect ? { client: before.client } : {}
}

const scopeFor = (asked: string | undefined, challenged: string | undefined): { readonly scope?: string } => {
  const scope = asked ?? challenged
  return scope === undefined ? {} : { scope }
}

const question = JSON.stringify({
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
  const response = await fetchFn(url, { method: 'POST', headers, body: question, redirect: 'manual' })
  return response.status === 401 || response.status === 403 ? extractWWWAuthenticateParams(response) : undefined
}

async function startAuthorization(
  provider: SignInProvider,
  ask: Parameters<typeof auth>[1],
  label: string,
  isClosed: boolean,
): Promise<void> {
  try {
    await auth(provider, ask)
  } catch (error) {
    if (isClosed || provider.discovery?.authorizationServerMetadata !== undefined) throw error
    throw new CommandError(exit.failed, 'no_login', `${label} lets anybody in, and tells of no way to sign in.`, { cause: error })
  }
}

/** The URL comes from the server, so it must be an encrypted page. */
function requireSafe(address: URL, label: string): void {
  if (!isSecureUrl(address)) throw failed(label, `It wants you to sign in at ${address.href}, which is no encrypted page.`)
}

function accepted(returned: CallbackResult, label: string): { readonly code: string; readonly iss: string | undefined } {
  if ('code' in returned) return returned
  const { error, description } = returned
  throw failed(label, `It was refused: ${error}${description === undefined ? '' : ` (${description})`}.`)
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
  new CommandError(exit.login, 'login_failed', `Signing in to ${label} failed. ${safeText(why, { limit: 500 })}`, { cause })

function toLoginError(error: unknown, { label, signal, timeoutMs }: SignInOptions, until: AbortSignal): unknown {
  if (error instanceof CommandError || signal.aborted) return error
  if (until.aborted)
    return failed(label, `Nobody came back from the browser within ${Math.round(timeoutMs / 1_000)} seconds. Try again.`, error)
  const words =
    error instanceof Error
      ? error.cause instanceof Error
        ? `${error.message}: ${error.cause.message}`
        : error.message
      : String(error)
  const isUnregistered = /dynamic client registration/iu.test(words)
  const next = isUnregistered ? ' Register a client there, and give its name with --client-id.' : ''
  return failed(label, `${words.replace(/\.?$/u, '.')}${next}`, error)
}
