import type { Target, TokenSource, UrlTarget } from '@unfold-mcp/client'

/**
 * Looks up the token source for a URL; `undefined` if the user has not signed in there. Implementations call `redact` with all
 * secrets of a sign-in, also after a renewal.
 */
export type SignIns = (url: string, redact: (secrets: readonly string[]) => void) => Promise<TokenSource | undefined>

export interface SignInRequest {
  /** Name of the server in messages. */
  readonly name: string
  readonly url: string
  /** Receives the address that the user opens in a browser. */
  readonly show: (address: URL) => void
  readonly signal: AbortSignal
}

/** Signs the user in to a server. Resolves when its tokens are stored, where `SignIns` finds them. */
export type StartSignIn = (request: SignInRequest) => Promise<void>

/** A lookup whose secrets are already redacted. */
export type SignInLookup = (url: string) => ReturnType<SignIns>

/** Adds the sign-in to a target, unless it has an Authorization header. */
export async function withSignIn(target: Target, signIns: SignInLookup | undefined): Promise<Target> {
  if (signIns === undefined || !('url' in target) || target.auth !== undefined || hasAuthorization(target)) return target
  const auth = await signIns(target.url)
  return auth === undefined ? target : { ...target, auth }
}

const hasAuthorization = ({ headers = {} }: UrlTarget): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
