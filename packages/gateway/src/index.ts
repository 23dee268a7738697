export type { Client } from './access/access.ts'
export type { ClientStatus } from './access/clients.ts'
export type { ReloadResult } from './admin/api.ts'
export type { GatewayStatus, ToolReport, UpstreamReport } from './admin/status.ts'
export { createLog, type Log, type LogLevel, type LogOptions, type LogStream, logLevels } from './base/log.ts'
export type { ToolNote } from './catalog/entries.ts'
export type { ConfigProblem } from './config/problem.ts'
export { type ReadConfig, readConfig } from './config/read.ts'
export type { Config } from './config/schema.ts'
export { type CreatedToken, createToken } from './config/tokens.ts'
export type { Environment } from './config/variables.ts'
export { Gateway, type GatewayOptions } from './gateway/gateway.ts'
export type { Savings } from './gateway/savings.ts'
export type { GatewayToolbox } from './gateway/toolboxes.ts'
export type { CloseOptions } from './gateway-service.ts'
export type { CallHandler, Middleware, ProxiedCall, ProxiedResult } from './middleware/chain.ts'
export type { Trace } from './middleware/trace.ts'
export { exposedName } from './names/naming.ts'
export type { DegradedPart } from './observability/degraded-parts.ts'
export type { CallRecord, ChangeRecord, LogRecord } from './observability/journal.ts'
export type { Finding } from './poisoning/finding.ts'
export { type RunRecord, runningGateways } from './run-file.ts'
export { type RunningGateway, type StartOptions, startGateway } from './start.ts'
export type { CachedUpstream, CatalogStore, ServerDetails } from './stores/catalog.ts'
export type { UpstreamConfig, UpstreamSettings } from './upstreams/config.ts'
export type { Slowdown } from './upstreams/connected/follow-budget.ts'
export type { Pace } from './upstreams/connected/refresher.ts'
export type { UpstreamCall, UpstreamConnection } from './upstreams/connection.ts'
export { UpstreamError, type UpstreamReason } from './upstreams/errors.ts'
export type {
  Emit,
  EventStream,
  Listener,
  ToolsChanged,
  UpstreamEvent,
  UpstreamEvents,
  UpstreamState,
} from './upstreams/events.ts'
export type { StartPhase, StartRequest } from './upstreams/process/start-queue.ts'
export type { SignInLookup, SignIns } from './upstreams/sign-in.ts'
export type { UpstreamStatus } from './upstreams/status.ts'
export type { Upstream, UpstreamOptions } from './upstreams/upstream.ts'
export { type Applied, Upstreams, type UpstreamsOptions } from './upstreams/upstreams.ts'
