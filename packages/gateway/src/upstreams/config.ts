import type { ProtocolChoice, Target } from '@unfold-mcp/client'
import { canonicalJson } from '@unfold-mcp/core'

/** Connection and settings of an upstream. */
export interface UpstreamConfig extends Partial<UpstreamSettings> {
  readonly target: Target
  /** Protocol revision; default: negotiated. */
  readonly protocol?: ProtocolChoice
  readonly disabled?: boolean
  /** `one`: of several replicas, one runs it. */
  readonly placement?: 'each' | 'one'
  /** `one`: of several replicas, one reads its tools after a change. */
  readonly follow?: 'each' | 'one'
}

/** Settings that can change without a restart of the upstream. */
export interface UpstreamSettings {
  /** `lazy`: started on the first call, if its tools are cached. */
  readonly start: 'eager' | 'lazy'
  /** Stops the upstream after this time without calls; 0: never. */
  readonly idleStopMs: number
  readonly startTimeoutMs: number
  /** Timeout for the first message of a launcher such as `npx`, which may have to install the server. */
  readonly installTimeoutMs: number
  /** Interval for listing tools without a notification; 0: never. */
  readonly sweepMs: number
  /** How long tools stay listed after the connection is lost. */
  readonly graceMs: number
  /** Ping interval while the connection is idle; 0: never. */
  readonly pingMs: number
  readonly pingTimeoutMs: number
  /** Maximum number of concurrent calls. */
  readonly concurrency: number
  /** Maximum number of queued calls. */
  readonly queue: number
  /** Timeout of a call without progress. */
  readonly timeoutMs: number
}

const defaults: Omit<UpstreamSettings, 'pingTimeoutMs'> = {
  start: 'eager',
  idleStopMs: 0,
  startTimeoutMs: 30_000,
  installTimeoutMs: 600_000,
  sweepMs: 300_000,
  graceMs: 5_000,
  pingMs: 30_000,
  concurrency: 64,
  queue: 256,
  timeoutMs: 60_000,
}

const maxPingTimeoutMs = 10_000

/** Fills in the defaults. */
export function settingsOf(config: UpstreamConfig): UpstreamSettings {
  const {
    target: _target,
    protocol: _protocol,
    disabled: _disabled,
    placement: _placement,
    follow: _follow,
    ...settings
  } = config
  const { pingMs = defaults.pingMs } = settings
  // A shorter ping interval implies a shorter timeout.
  const pingTimeoutMs = pingMs > 0 ? Math.min(pingMs, maxPingTimeoutMs) : maxPingTimeoutMs
  return { ...defaults, pingTimeoutMs, ...settings }
}

/** True if the change does not require a restart. */
export function isSameServer(a: UpstreamConfig, b: UpstreamConfig): boolean {
  const isSame = (a.disabled === true) === (b.disabled === true) && a.protocol === b.protocol
  const isShared = (a.placement ?? 'each') === (b.placement ?? 'each') && (a.follow ?? 'each') === (b.follow ?? 'each')
  return isSame && isShared && isSameTarget(a.target, b.target)
}

export function isSameConfig(a: UpstreamConfig, b: UpstreamConfig): boolean {
  return isSameServer(a, b) && canonicalJson(settingsOf(a)) === canonicalJson(settingsOf(b))
}

function isSameTarget(a: Target, b: Target): boolean {
  if ('server' in a || 'server' in b) return 'server' in a && 'server' in b && a.server === b.server
  if ('url' in a && 'url' in b && a.auth !== b.auth) return false
  return canonicalJson(plain(a)) === canonicalJson(plain(b))
}

// Without the token source, which is not data.
function plain(target: Exclude<Target, { readonly server: object }>): object {
  if (!('url' in target)) return target
  const { auth: _auth, ...rest } = target
  return rest
}
