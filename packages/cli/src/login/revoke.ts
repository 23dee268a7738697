import { AllowedAddresses } from './allowed-addresses.ts'
import { boundedFetch } from './fetch.ts'
import { isSecureUrl } from './secure-url.ts'
import type { Grant } from './tokens.ts'

/** Revokes tokens at the authorization server; false if that failed. */
export async function revoke({ resource, tokens, client, metadata }: Grant, signal: AbortSignal): Promise<boolean> {
  const address = metadata !== undefined && 'revocation_endpoint' in metadata ? String(metadata.revocation_endpoint) : ''
  if (!URL.canParse(address) || !isSecureUrl(new URL(address))) return false
  const body = new URLSearchParams({ token: tokens.refresh ?? tokens.access, client_id: client.client_id })
  if (client.client_secret !== undefined) body.set('client_secret', client.client_secret)
  try {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const fetchFn = boundedFetch({ addresses: new AllowedAddresses(resource), signal })
    const response = await fetchFn(address, { method: 'POST', headers, body, redirect: 'error' })
    return response.ok
  } catch {
    return false
  }
}
