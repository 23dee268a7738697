import type { UpstreamConfig } from '../upstreams/config.ts'
import { isCommandServer, type ServerConfig } from './schema.ts'
import { type ProcessDefaults, targetOf } from './target.ts'

export function upstreamConfig(
  server: ServerConfig,
  { folder, ...defaults }: { readonly folder: string } & ProcessDefaults,
): UpstreamConfig {
  const { disabled, start, idleStopMs, startTimeoutMs, sweepMs, graceMs, pingMs, concurrency, queue, timeoutMs } = server
  const settings = { start, idleStopMs, startTimeoutMs, sweepMs, graceMs, pingMs, concurrency, queue, timeoutMs }
  const { installTimeoutMs, placement } = isCommandServer(server) ? server : {}
  const command = { ...(installTimeoutMs !== undefined && { installTimeoutMs }), ...(placement !== undefined && { placement }) }
  const follow = isCommandServer(server) ? undefined : server.follow
  return {
    target: targetOf(server, folder, defaults),
    disabled,
    ...settings,
    ...command,
    ...(follow !== undefined && { follow }),
  }
}
