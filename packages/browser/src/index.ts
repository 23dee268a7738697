export type { Ring, RingLimits } from '@unfold-mcp/core'
export {
  type AttachOptions,
  attachChromium,
  type Chromium,
  ChromiumFailed,
  ChromiumMissing,
  type Environment,
  findChromium,
  type LaunchOptions,
  launchChromium,
} from './page/chromium.ts'
export { type TabInfo, type WatchedBrowser, type WatchedTab, type WatchOptions, watchBrowser } from './page/watched-browser.ts'
export { Baselines, type Comparison, type Metric, type Rating, type Verdict } from './recording/baselines.ts'
export type { Filters } from './recording/filters.ts'
export { type BrowserFacts, defaultLimits, type Limits, Recording, type RecordingOptions } from './recording/recording.ts'
export type { RecordRing } from './records/record-ring.ts'
export type {
  Audit,
  AuditFault,
  Body,
  Header,
  Kind,
  LogEntry,
  LogLevel,
  NetworkRequest,
  NewRecord,
  PendingRequest,
  PerformanceSnapshot,
  Recorded,
  Records,
  Selectors,
  SocketEvent,
  SocketStatus,
  UserAction,
} from './records/records.ts'
export { type RedactionPattern, Redactor, type RedactorOptions } from './redaction/redaction.ts'
export { browserToolbox } from './toolbox.ts'
export type { Watch } from './tools/watch.ts'
