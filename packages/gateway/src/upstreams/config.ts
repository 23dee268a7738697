import type { ProtocolChoice, Target } from '@unfold-mcp/client'
import { canonicalJson } from '@unfold-mcp/core'

/** How an upstream is reached and treated. What is left out has a default. */
export interface UpstreamConfig extends Partial<UpstreamSettings> {
  readonly target: Target
  /** Which revision to speak; whatever both can by default. */
  readonly protocol?: ProtocolChoice
  readonly disabled?: boolean
}

/** What can be changed without starting an upstream anew. */
export interface UpstreamSettings {
  /** `lazy`: started by the first call, if its tools are known from before. */
  readonly start: 'eager' | 'lazy'
  /** How long it may be without a call before it is stopped; 0 is for ever. */
  readonly idleStopMs: number
  readonly startTimeoutMs: number
  /** How long one that is started through a launcher such as `npx` may take to its first message: it may have to be installed. */
  readonly installTimeoutMs: number
  /** How often its tools are read although nothing was said; 0 is never. */
  readonly sweepMs: number
  /** How long its tools stay listed when it is lost. */
  readonly graceMs: number
  /** How often it is asked for a sign of live when nothing else is heard of it; 0 is never. */
  readonly pingMs: number
  readonly pingTimeoutMs: number
  /** How many calls run at once, and how many more may wait. */
  readonly concurrency: number
  readonly queue: number
  /** How long nothing may be heard of a call. */
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

/** All settings of an upstream, with defaults for those that were left out. */
export function settingsOf(config: UpstreamConfig): UpstreamSettings {
  const { target: _target, protocol: _protocol, disabled: _disabled, ...settings } = config
  const { pingMs = defaults.pingMs } = settings
  // Whoever wants to know more often wants to know sooner.
  const pingTimeoutMs = pingMs > 0 ? Math.min(pingMs, maxPingTimeoutMs) : maxPingTimeoutMs
  return { ...defaults, pingTimeoutMs, ...settings }
}

/** Whether the same server is spoken to in the same way: then nothing has to be started anew. */
export function isSameServer(a: UpstreamConfig, b: UpstreamConfig): boolean {
  return (a.disabled === true) === (b.disabled === true) && a.protocol === b.protocol && isSameTarget(a.target, b.target)
}

/** Whether nothing at all differs. */
export function isSameConfig(a: UpstreamConfig, b: UpstreamConfig): boolean {
  return isSameServer(a, b) && canonicalJson(settingsOf(a)) === canonicalJson(settingsOf(b))
}

function isSameTarget(a: Target, b: Target): boolean {
  if ('server' in a || 'server' in b) return 'server' in a && 'server' in b && a.server === b.server
  if ('url' in a && 'url' in b && a.auth !== b.auth) return false
  return canonicalJson(plain(a)) === canonicalJson(plain(b))
}

/** A target without what is no data. */
function plain(target: Exclude<Target, { readonly server: object }>): object {
  if (!('url' in target)) return target
  const { auth: _auth, ...rest } = target
  return rest
}
