import type { ToolContext } from '@unfold-mcp/server'

/** Owner of a stored result: principal and session. */
export const ownerOf = ({ principal, era, scope }: Pick<ToolContext, 'principal' | 'era' | 'scope'>): string =>
  JSON.stringify([principal?.id ?? null, era === 'session' ? scope : null])
