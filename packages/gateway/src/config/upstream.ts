import type { UpstreamConfig } from '../upstreams/config.ts'
import { isCommandServer, isScriptServer, isUrlServer, type ServerConfig } from './schema.ts'
import { type ProcessDefaults, targetOf } from './target.ts'

export interface UpstreamPlaces extends ProcessDefaults {
  readonly folder: string
  /** The server in this process that offers the stored scripts; required if there are any. */
  readonly scripts?: object
}

export function upstreamConfig(server: ServerConfig, { folder, scripts, ...defaults }: UpstreamPlaces): UpstreamConfig {
  const { disabled, start, idleStopMs, startTimeoutMs, sweepMs, graceMs, pingMs, concurrency, queue, timeoutMs } = server
  const settings = { start, idleStopMs, startTimeoutMs, sweepMs, graceMs, pingMs, concurrency, queue, timeoutMs }
  const { installTimeoutMs, placement } = isCommandServer(server) ? server : {}
  const command = { ...(installTimeoutMs !== undefined && { installTimeoutMs }), ...(placement !== undefined && { placement }) }
  const follow = isUrlServer(server) ? server.follow : undefined
  return {
    target: isScriptServer(server) ? { server: scripts ?? {} } : targetOf(server, folder, defaults),
    disabled,
    ...settings,
    ...command,
    ...(follow !== undefined && { follow }),
  }
}
