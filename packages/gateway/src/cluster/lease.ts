import { type EndTimes, monotonicMs } from '../upstreams/process/supervised.ts'
import type { Redis, Script } from './redis.ts'

/** A replica that holds a lease. */
export interface Holder {
  readonly replica: string
  /** Where other replicas reach it. */
  readonly address: string
  /** Increases with every holder: a message with an older token is from, or for, an earlier one. */
  readonly token: string
}

/** A lease that is not free. `holder`: unknown after Redis may have lost data. */
export interface HeldElsewhere {
  readonly holder: Holder | undefined
  /** When it may be free, unless it is renewed or released. */
  readonly waitMs: number
}

/** Result of trying to get a lease. */
export type Attempt = { readonly lease: Lease } | HeldElsewhere

export interface LeasesOptions {
  readonly redis: Redis
  readonly replica: string
  readonly leaseMs: number
}

// A record outlives its lease, so that its token never goes back.
const keepMs = 86_400_000
// No lease is longer; a record that claims one is damaged.
const maxLeaseMs = 3_600_000

const time = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function integer(number) return string.format('%.0f', number) end
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
`

/**
 * Takes a lease that is free. If there is no record, or another server process has written it, then writes may have been lost: by an
 * empty restart or a failover. A holder that is unknown for that reason has lost its lease when one lease time has passed.
 * KEYS: record. ARGV: replica, address, lease time.
 */
const acquire: Script = {
  lua: `${time}
local record = redis.call('HMGET', KEYS[1], 'replica', 'address', 'token', 'until', 'run')
local ends = tonumber(record[4])
local token = tonumber(record[3]) or 0
if ends and ends > now and ends < now + ${maxLeaseMs} then
  return { 'held', integer(now), integer(ends - now), record[1] or '', record[2] or '', record[3] or '' }
end
local lease = tonumber(ARGV[3])
if not ends or ends > now or record[5] ~= run then
  redis.call('HSET', KEYS[1], 'replica', '', 'address', '', 'token', integer(token), 'until', integer(now + lease), 'run', run)
  redis.call('PEXPIRE', KEYS[1], ${keepMs})
  return { 'held', integer(now), integer(lease), '', '', '' }
end
token = math.max(token + 1, now)
redis.call('HSET', KEYS[1], 'replica', ARGV[1], 'address', ARGV[2], 'token', integer(token), 'until', integer(now + lease), 'run', run)
redis.call('PEXPIRE', KEYS[1], ${keepMs})
return { 'acquired', integer(now), integer(token) }
`,
}

/** KEYS: record. ARGV: replica, token, lease time; 0 releases it. Returns whether the replica held it. */
const extend: Script = {
  lua: `${time}
local record = redis.call('HMGET', KEYS[1], 'replica', 'token', 'until')
if record[1] ~= ARGV[1] or record[2] ~= ARGV[2] or not ((tonumber(record[3]) or 0) > now) then return { 'lost', integer(now) } end
local lease = tonumber(ARGV[3])
redis.call('HSET', KEYS[1], 'until', integer(now + lease), 'run', run)
redis.call('PEXPIRE', KEYS[1], ${keepMs})
return { 'held', integer(now) }
`,
}

/** Leases on Redis: each is held by one replica at a time. */
export class Leases {
  readonly #options: LeasesOptions
  /** Redis' clock minus the monotonic one. */
  #offsetMs: number | undefined

  constructor(options: LeasesOptions) {
    this.#options = options
  }

  get leaseMs(): number {
    return this.#options.leaseMs
  }

  /** Estimate of Redis' clock, in milliseconds since 1970. */
  now(): number {
    return this.#offsetMs === undefined ? Date.now() : monotonicMs() + this.#offsetMs
  }

  /** Tries to get a lease. `address`: where other replicas reach this one. Rejects if Redis is unavailable. */
  async acquire(name: string, address: string): Promise<Attempt> {
    const { replica, leaseMs } = this.#options
    const sentAt = monotonicMs()
    const [state, ...rest] = await this.#run(acquire, name, [replica, address, String(leaseMs)])
    if (state === 'acquired') {
      const [token = ''] = rest
      return { lease: new Lease({ token, sentAt, leaseMs, extend: (ms) => this.#extend(name, token, ms) }) }
    }
    const [waitMs = '', holder = '', at = '', token = ''] = rest
    return { holder: holder === '' ? undefined : { replica: holder, address: at, token }, waitMs: Number(waitMs) }
  }

  async #extend(name: string, token: string, ms: number): Promise<boolean> {
    const [state] = await this.#run(extend, name, [this.#options.replica, token, String(ms)])
    return state === 'held'
  }

  /** Runs a script, whose reply is a state, Redis' clock and more. Returns it without the clock. */
  async #run(script: Script, name: string, args: readonly string[]): Promise<readonly string[]> {
    const { redis } = this.#options
    const reply = await redis.script(script, [`${redis.prefix}lease:${encodeURIComponent(name)}`], args)
    if (!Array.isArray(reply)) throw new TypeError('Redis returned an invalid reply for a lease.')
    const [state = '', now = '', ...rest] = reply.map(String)
    this.#offsetMs = Number(now) - monotonicMs()
    return [state, ...rest]
  }
}

interface LeaseOptions {
  readonly token: string
  /** When the command that got it was sent, on the monotonic clock. Redis' lease time started later. */
  readonly sentAt: number
  readonly leaseMs: number
  readonly extend: (ms: number) => Promise<boolean>
}

// Shares of the lease time. What it protects is no longer used from the first on, ends after SIGTERM, and is killed at the second. The
// rest is for a busy machine.
const stopShare = 0.8
const killShare = 0.9
const renewShare = 1 / 3
const retryShare = 1 / 10

/** A lease that this replica holds, renewed until it is released or lost. It never counts as held longer than Redis keeps it. */
export class Lease {
  readonly token: string
  readonly #options: LeaseOptions
  readonly #lost = new AbortController()
  readonly #listeners = new Set<(times: EndTimes) => void>()
  #times: EndTimes
  #renewal: NodeJS.Timeout | undefined
  #expiry: NodeJS.Timeout | undefined
  #isReleased = false

  constructor(options: LeaseOptions) {
    this.token = options.token
    this.#options = options
    this.#times = this.#timesFrom(options.sentAt)
    this.#watchExpiry()
    this.#scheduleRenewal(renewShare)
  }

  /** True if what it protects may be used now. */
  get isHeld(): boolean {
    return !this.#isReleased && !this.#lost.signal.aborted && monotonicMs() < this.#times.stopAt
  }

  /** Aborted when it is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** When what it protects must have ended, unless it is renewed. */
  get times(): EndTimes {
    return this.#times
  }

  onRenewed(listener: (times: EndTimes) => void): void {
    this.#listeners.add(listener)
  }

  /** Lets another replica have it. What it protects must have ended. */
  async release(): Promise<void> {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#stop()
    // If this fails, it expires.
    if (!this.#lost.signal.aborted) await this.#options.extend(0).catch(() => undefined)
  }

  #timesFrom(sentAt: number): EndTimes {
    const { leaseMs } = this.#options
    return { stopAt: Math.floor(sentAt + leaseMs * stopShare), killAt: Math.floor(sentAt + leaseMs * killShare) }
  }

  #scheduleRenewal(share: number): void {
    clearTimeout(this.#renewal)
    this.#renewal = setTimeout(() => void this.#renew(), this.#options.leaseMs * share).unref()
  }

  #watchExpiry(): void {
    clearTimeout(this.#expiry)
    this.#expiry = setTimeout(() => this.#lose(), Math.max(0, this.#times.stopAt - monotonicMs())).unref()
  }

  async #renew(): Promise<void> {
    const sentAt = monotonicMs()
    if (sentAt >= this.#times.stopAt) return this.#lose()
    let isHeld: boolean
    try {
      isHeld = await this.#options.extend(this.#options.leaseMs)
    } catch {
      // It stays valid until it expires.
      if (!this.#isReleased && !this.#lost.signal.aborted) this.#scheduleRenewal(retryShare)
      return
    }
    if (this.#isReleased) return
    // Too late: what it protects is being ended already.
    if (!isHeld || monotonicMs() >= this.#times.stopAt) return this.#lose()
    this.#times = this.#timesFrom(sentAt)
    this.#watchExpiry()
    this.#scheduleRenewal(renewShare)
    for (const listener of this.#listeners) listener(this.#times)
  }

  #lose(): void {
    this.#stop()
    this.#lost.abort()
  }

  #stop(): void {
    clearTimeout(this.#renewal)
    clearTimeout(this.#expiry)
  }
}
