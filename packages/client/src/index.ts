export type { GroupOutline, OutlinedTool, Tool, ToolDescription } from '@unfold-mcp/core'
export {
  type CachedServer,
  type CachedTools,
  type CacheKey,
  type FileCacheOptions,
  fileCache,
  memoryCache,
  readCached,
  type ToolCache,
} from './cache/cache.ts'
export { hasNetwork, type Sandbox } from './config/sandbox.ts'
export type { CommandTarget, LocalTarget, Target, TokenSource, UrlTarget } from './config/target.ts'
export { type ConnectOptions, connect } from './connect.ts'
export type { Connection, LogEntry } from './connection.ts'
export { ClientError, type ClientErrorDetails, type ClientReason, isClientError } from './errors/errors.ts'
export { type AcquireOptions, type Lease, Pool, type PooledSession, type PoolOptions } from './pool.ts'
export { type Launcher, launcherOf } from './process/launcher.ts'
export { type Bubblewrap, sandboxProgram } from './sandbox/bubblewrap.ts'
export { pendingSandboxInstall } from './sandbox/installation.ts'
export type { Budget } from './schema/budget.ts'
export type { ValidationResult } from './schema/check.ts'
export { validateArguments } from './schema/validate.ts'
export type { DocumentChange } from './session/document-change.ts'
export type { Elicitation, ElicitationHandler, ElicitationResult } from './session/elicitation.ts'
export type { ForwardOptions } from './session/forward.ts'
export type { ProtocolChoice, ResumableSession } from './session/handshake.ts'
export type { ClientResult, Relay, ServerRequest } from './session/relay.ts'
export type { Agreement, Era, ServerInfo } from './session/session.ts'
export { type Clock, systemClock } from './time/clock.ts'
export type { TimeoutOptions } from './time/request-timeout.ts'
export type { ConnectionEvent } from './tools/announcements.ts'
export type { CallOptions, CallResult } from './tools/call.ts'
export type { Change, Changes, FollowOptions } from './tools/changes.ts'
export type { Description } from './tools/description.ts'
export { type Difference, diffTools } from './tools/difference.ts'
export { type Identity, identityOfTools } from './tools/identity.ts'
export type { Outline, OutlinedGroup } from './tools/outline.ts'
export type { SavedFile, SaveTo } from './tools/result-files.ts'
export type { ProcessState, ProgramLine, Supervisor } from './transports/server-process.ts'
