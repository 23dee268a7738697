import type { ToolContext } from '@unfold-mcp/server'

/** Owner of a stored result: the only one who can read it. */
export interface ResultOwner {
  readonly key: string
  /** Id of the principal; empty for none. */
  readonly id: string
  /** Owners with the same name share a limit: those with the same token; without a token, each session has its own. */
  readonly principal: string
  /** Scope of a session; empty for 2026-07-28 clients, which have none. */
  readonly scope: string
}

interface CallContext extends Pick<ToolContext, 'era' | 'scope'> {
  readonly principal: { readonly id: string; readonly token?: string } | undefined
}

export function ownerOf({ principal, era, scope }: CallContext): ResultOwner {
  const session = era === 'session' ? scope : ''
  return {
    key: JSON.stringify([principal?.id ?? null, session]),
    id: principal?.id ?? '',
    principal: principal?.token === undefined ? session : `token:${principal.token}`,
    scope: session,
  }
}
