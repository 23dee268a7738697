import type { UpstreamStatus } from '@unfold-mcp/gateway'
import { safeText } from '../text/safe.ts'

type Addressed = Pick<UpstreamStatus, 'name' | 'address'>

/** What helps a server that wants to know who asks. */
export const signInText = (upstream: Addressed): string => `sign in: ${signInWays(upstream)}`

/** The ways to sign in to a server. */
export const signInWays = ({ name, address }: Addressed): string =>
  `unfold login ${safeText(address ?? name, { limit: 500 })}   or give it a token: "headers" in the configuration`
