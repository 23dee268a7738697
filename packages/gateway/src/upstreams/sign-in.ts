import type { Target, TokenSource, UrlTarget } from '@unfold-mcp/client'

/**
 * Looks up the token source for a URL; `undefined` if the user has not signed in there. Implementations call `redact` with all
 * secrets of a sign-in, also after a renewal.
 */
export type SignIns = (url: string, redact: (secrets: readonly string[]) => void) => Promise<TokenSource | undefined>

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
