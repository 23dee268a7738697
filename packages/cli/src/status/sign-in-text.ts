import type { UpstreamStatus } from '@unfold-mcp/gateway'
import { safeText } from '../text/safe.ts'

type Addressed = Pick<UpstreamStatus, 'name' | 'address'>

export const signInText = (upstream: Addressed): string => `sign in: ${signInWays(upstream)}`

export const signInWays = ({ name, address }: Addressed): string =>
  `unfold login ${safeText(address ?? name, { limit: 500 })}, or set a token in "headers" in the configuration`
