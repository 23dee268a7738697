import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server'
import type { SharePath } from '@unfold-mcp/core'
import { addressShare, type RequestHead, type ToolContext } from '@unfold-mcp/server'
import type { Client } from './access.ts'

export type Caller = Pick<ToolContext, 'share' | 'era' | 'scope' | 'envelope'>

/**
 * Whose share and turn a call takes, outermost first: a token, or a forwarded address; within it, a session. Anonymous clients on this
 * machine are told apart by session; those without a session only by the name that they give themselves.
 */
export function callerPath({ share, era, scope, envelope }: Caller): SharePath {
  const session = era === 'session' ? scope : `client:${clientName(envelope)}`
  return share === undefined ? [session] : [share, session]
}

/** Share key of a request: its token; for anonymous clients, their address. */
export const clientShare = (head: RequestHead, client: Client | undefined): string | undefined =>
  client?.token === undefined ? addressShare(head) : `token:${client.token}`

function clientName(envelope: unknown): string {
  const info = (envelope as { readonly [key: string]: unknown } | undefined)?.[CLIENT_INFO_META_KEY]
  const name = (info as { readonly name?: unknown } | undefined)?.name
  return typeof name === 'string' ? name.slice(0, 100) : ''
}
