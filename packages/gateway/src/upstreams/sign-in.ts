import type { Target, TokenSource, UrlTarget } from '@unfold-mcp/client'

/**
 * Where the token for an address comes from; `undefined` when nobody signed in there. `hide` is to be called with all that is
 * secret of a sign-in, also when it is renewed, so that it is never told.
 */
export type SignIns = (url: string, hide: (secrets: readonly string[]) => void) => Promise<TokenSource | undefined>

/** The same where it is seen to that nothing secret is told. */
export type SignInLookup = (url: string) => ReturnType<SignIns>

/** The target with the sign-in to its address. One that says who asks by a header of its own stays as it is. */
export async function signed(target: Target, signIns: SignInLookup | undefined): Promise<Target> {
  if (signIns === undefined || !('url' in target) || target.auth !== undefined || saysWho(target)) return target
  const auth = await signIns(target.url)
  return auth === undefined ? target : { ...target, auth }
}

const saysWho = ({ headers = {} }: UrlTarget): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
