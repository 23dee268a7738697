import type { SharePath } from '@unfold-mcp/core'
import type { Scope } from './scope.ts'

/** Whose turn and share a request takes: the client's, and within it that of the session. */
export const sharePath = ({ key, settings: { share } }: Pick<Scope, 'key' | 'settings'>): SharePath =>
  share === undefined ? [key] : [share, key]
