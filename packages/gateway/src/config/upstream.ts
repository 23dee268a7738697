import type { UpstreamConfig } from '../upstreams/config.ts'
import { type Config, isCommandServer, type ServerConfig } from './schema.ts'
import { targetOf } from './target.ts'

export function upstreamConfig(
  server: ServerConfig,
  { folder, processes }: { readonly folder: string } & Pick<Config, 'processes'>,
): UpstreamConfig {
  const { disabled, start, idleStopMs, startTimeoutMs, sweepMs, graceMs, pingMs, concurrency, queue, timeoutMs } = server
  const settings = { start, idleStopMs, startTimeoutMs, sweepMs, graceMs, pingMs, concurrency, queue, timeoutMs }
  const installing = isCommandServer(server) ? { installTimeoutMs: server.installTimeoutMs } : {}
  return { target: targetOf(server, folder, processes), disabled, ...settings, ...installing }
}
