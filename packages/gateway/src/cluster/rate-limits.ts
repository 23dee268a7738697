import { randomUUID } from 'node:crypto'
import type { SharedBuckets } from '../middleware/rate-limiter.ts'
import { hashed } from './hashed.ts'
import type { Redis, Script } from './redis.ts'

const leaseMs = 10_000
// A lease covers the calls of this time, at the rate of the client. Smaller leases would save nothing.
const coveredMs = 4_000
const minSize = 4
const emptyMs = 1_000
// A lease is at most an eighth of what the bucket has.
const minPerMinute = 8 * minSize
const maxClients = 10_000

// Tokens of a lease stay part of the capacity until it ends: otherwise the bucket would refill while a replica can still spend them,
// and the cluster would exceed the limit by the leases. A lease that ends is counted as spent, because its replica may have died.
// The time is that of Redis. It may go back after a failover; then nothing is added until it has caught up.
// ARGV: capacity, tokens to take, lease, what is left of it, what is left of it and goes back, tokens that it may get, its time.
const take: Script = {
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local capacity, need, id, held = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local tokens, at, leased, leases = capacity, now, 0, {}
local fields = redis.call('HGETALL', KEYS[1])
for index = 1, #fields, 2 do
  local name, value = fields[index], fields[index + 1]
  if name == 'tokens' then tokens = tonumber(value) or capacity
  elseif name == 'at' then at = tonumber(value) or now
  else
    local amount, ends = string.match(value, '^(%d+) (%d+)$')
    leased = leased + (amount or 0)
    table.insert(leases, { name = name, amount = tonumber(amount) or 0, ends = tonumber(ends) or 0 })
  end
end
local function refill(to)
  tokens = math.max(0, math.min(capacity - leased, tokens + math.max(0, to - at) * capacity / 60000))
  at = to
end
table.sort(leases, function(one, other) return one.ends < other.ends end)
local own, isValid
for _, lease in ipairs(leases) do
  if lease.name == id then own = lease end
  -- One that ends much later than any new one is from before the clock was set back.
  if lease.ends <= now or lease.ends > now + 2 * ARGV[7] then
    refill(math.max(at, math.min(lease.ends, now)))
    leased = leased - lease.amount
    redis.call('HDEL', KEYS[1], lease.name)
  elseif own == lease then isValid = true end
end
refill(now)
if not isValid then held = 0 end
if own then
  if isValid then leased = leased - own.amount + held end
  tokens = math.min(capacity - leased, tokens + ARGV[5])
end
local wait = 0
if tokens >= need then tokens = tokens - need else wait = math.ceil((need - tokens) * 60000 / capacity) end
local granted = math.max(0, math.min(tonumber(ARGV[6]), math.floor(tokens / 8)))
tokens = tokens - granted
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.0f', now))
if held + granted > 0 then redis.call('HSET', KEYS[1], id, string.format('%.0f %.0f', held + granted, now + ARGV[7]))
elseif isValid then redis.call('HDEL', KEYS[1], id) end
redis.call('PEXPIRE', KEYS[1], 120000)
return { wait, granted, isValid and 1 or 0 }`,
}

/** What a replica may spend of a bucket without asking Redis. */
interface Lease {
  readonly key: string
  readonly perMinute: number
  id: string
  tokens: number
  /** Redis takes it back at this time or later. */
  endsAt: number
  /** Tokens that it should have. */
  size: number
  /** Calls since `countedAt`, for the rate of the client. */
  calls: number
  countedAt: number
  isAsking: boolean
  /** An almost empty bucket grants nothing. */
  asksAfter: number
}

interface Request {
  /** Tokens for a call that waits. */
  readonly need: 0 | 1
  readonly id: string
  /** What is left of the lease. */
  readonly held: number
  /** What is left of a lease that has ended. */
  readonly back: number
  /** Tokens that it may get. */
  readonly want: number
}

interface Grant {
  readonly waitMs: number
  readonly granted: number
  /** False if Redis has taken the lease back. */
  readonly isValid: boolean
}

/**
 * Rate limits that apply to all replicas together. A replica takes tokens for the next calls of a busy client in advance, so that most
 * calls wait for nothing.
 */
export function redisBuckets(
  redis: Pick<Redis, 'prefix' | 'script'>,
  now: () => number = () => performance.now(),
): SharedBuckets {
  const leases = new Map<string, Lease>()

  const ask = async ({ key, perMinute }: Lease, { need, id, held, back, want }: Request): Promise<Grant | undefined> => {
    try {
      const reply = await redis.script(take, [key], [perMinute, need, id, held, back, want, leaseMs].map(String))
      const [waitMs = 0, granted = 0, isValid = 0] = Array.isArray(reply) ? reply.map(Number) : []
      return { waitMs, granted, isValid: isValid === 1 }
    } catch {
      // The connection reports the problem.
      return undefined
    }
  }

  const leaseOf = (client: string, perMinute: number): Lease => {
    const known = leases.get(client)
    const lease = known?.perMinute === perMinute ? known : newLease(`${redis.prefix}rate:${hashed(client)}`, perMinute)
    // Reinserted, so that the least recently used lease comes first.
    leases.delete(client)
    leases.set(client, lease)
    const [oldest] = leases.keys()
    if (leases.size > maxClients && oldest !== undefined) leases.delete(oldest)
    return lease
  }

  const spend = (lease: Lease): boolean => {
    if (lease.tokens === 0 || now() >= lease.endsAt) return false
    lease.tokens--
    return true
  }

  /** Splits what is left of a lease. */
  const rest = ({ tokens, endsAt }: Lease, at: number): Pick<Request, 'held' | 'back'> =>
    at < endsAt ? { held: tokens, back: 0 } : { held: 0, back: tokens }

  /** Extends a lease while calls use it. */
  const extend = async (lease: Lease, size: number): Promise<void> => {
    const askedAt = now()
    const { held, back } = rest(lease, askedAt)
    Object.assign(lease, { size, calls: 0, countedAt: askedAt, isAsking: true, tokens: held })
    const grant = await ask(lease, { need: 0, id: lease.id, held, back, want: Math.max(0, size - held) })
    lease.isAsking = false
    if (grant === undefined) {
      // Redis may have granted tokens that nobody knows of. They come back when that lease ends.
      Object.assign(lease, { id: randomUUID(), tokens: 0 })
      return
    }
    // Calls have used tokens meanwhile.
    lease.tokens = (grant.isValid ? lease.tokens : 0) + grant.granted
    lease.endsAt = askedAt + leaseMs
    if (lease.tokens === 0) lease.asksAfter = askedAt + emptyMs
  }

  return {
    async take(client, perMinute) {
      const lease = leaseOf(client, perMinute)
      const at = now()
      const isRare = at - lease.countedAt >= leaseMs
      if (isRare) Object.assign(lease, { size: minSize / 2, calls: 0, countedAt: at })
      lease.calls++
      const isSpent = spend(lease)
      const isShort = lease.tokens < lease.size / 2 || lease.endsAt - at < leaseMs / 2
      const size = Math.min(2 * lease.size, Math.ceil((lease.calls * coveredMs) / Math.max(1, at - lease.countedAt)))
      const isWorthIt = !isRare && size >= minSize && perMinute >= minPerMinute
      if (isWorthIt && isShort && !lease.isAsking && at >= lease.asksAfter) void extend(lease, size)
      if (isSpent) return 0
      // A lease that is being extended reports what is left of it.
      const back = lease.isAsking ? 0 : rest(lease, at).back
      const id = back > 0 ? lease.id : ''
      if (back > 0) Object.assign(lease, { id: randomUUID(), tokens: 0 })
      const grant = await ask(lease, { need: 1, id, held: 0, back, want: 0 })
      // Meanwhile the lease may have got the last tokens.
      return grant !== undefined && grant.waitMs > 0 && spend(lease) ? 0 : grant?.waitMs
    },
  }
}

const newLease = (key: string, perMinute: number): Lease => ({
  key,
  perMinute,
  id: randomUUID(),
  tokens: 0,
  endsAt: 0,
  size: minSize / 2,
  calls: 0,
  countedAt: Number.NEGATIVE_INFINITY,
  isAsking: false,
  asksAfter: 0,
})
