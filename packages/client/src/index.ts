export type { OutlinedTool, Tool } from '@unfold-mcp/core'
export {
  type CachedServer,
  type CachedTools,
  type CacheKey,
  type FileCacheOptions,
  fileCache,
  memoryCache,
  readCached,
  type ToolCache,
} from './cache.ts'
export type { CallOptions, CallResult } from './calls.ts'
export type { Change, Changes, FollowOptions } from './changes.ts'
export { type Clock, systemClock } from './clock.ts'
export { type ConnectOptions, connect } from './connect.ts'
export type { Connection, LogEntry, Sign } from './connection.ts'
export type { Description } from './description.ts'
export type { ProtocolChoice, Session } from './dial.ts'
export { type Difference, differenceOf } from './difference.ts'
export type { DocumentNotice } from './documents.ts'
export type { Elicit, Elicitation, Elicited } from './elicitation.ts'
export { ClientError, type ClientErrorDetails, type ClientReason, isClientError } from './errors.ts'
export { type Identity, identityOfTools } from './identity.ts'
export { type Launcher, launcherOf } from './launcher.ts'
export type { Agreement, Era, ServerInfo } from './link.ts'
export type { Outline, OutlinedGroup } from './outline.ts'
export type { PassOptions } from './passing.ts'
export { type Lease, Pool, type PooledSession, type PoolOptions, type PoolUse } from './pool.ts'
export type { Answer, Question, Relay } from './relay.ts'
export type { SavedFile, SaveTo } from './saving.ts'
export type { Budget } from './schema/budget.ts'
export type { Checked } from './schema/check.ts'
export type { ProcessLife } from './stdio.ts'
export type { CommandTarget, LocalTarget, Target, TokenSource, UrlTarget } from './target.ts'
export { validateArguments } from './validate.ts'
