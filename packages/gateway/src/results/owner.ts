import type { ToolContext } from '@unfold-mcp/server'

/** Whose result it is: that of a session, where there is one, of whoever it belongs to. */
export const ownerOf = ({ principal, era, scope }: Pick<ToolContext, 'principal' | 'era' | 'scope'>): string =>
  JSON.stringify([principal?.id ?? null, era === 'session' ? scope : null])
