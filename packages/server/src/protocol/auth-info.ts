import type { AuthInfo } from '@modelcontextprotocol/server'
import type { Principal } from '../tool/principal.ts'

/** Converts a principal for the SDK's handlers of prompts and resources. */
export function authInfoOf(principal: Principal): AuthInfo {
  const claimed = 'scopes' in principal ? principal.scopes : undefined
  const scopes = Array.isArray(claimed) ? claimed.map(String) : []
  return { token: '', clientId: principal.id, scopes, extra: { principal } }
}
