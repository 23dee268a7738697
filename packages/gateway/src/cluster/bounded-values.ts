import { hashed } from './hashed.ts'
import type { Redis, Script } from './redis.ts'

export interface ValueLimits {
  /** Longer values are not stored. */
  readonly bytesPerValue: number
  readonly bytesPerPrincipal: number
  readonly bytes: number
}

// Scores are microseconds, so that values of the same millisecond have an order. Evicts the oldest values of the same principal only, so that nobody can evict those of others. A member of the sorted sets is
// "principal|bytes|key". KEYS: value, sizes by principal, all values by expiry. ARGV: value, principal, bytes, time to keep, limits.
const put: Script = {
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local bytes, limit, total = tonumber(ARGV[3]), tonumber(ARGV[5]), tonumber(ARGV[6])
local function own(principal) return KEYS[3] .. ':' .. principal end
local function size(name) return tonumber(redis.call('HGET', KEYS[2], name)) or 0 end
local function count(name, change)
  if redis.call('HINCRBY', KEYS[2], name, change) <= 0 then redis.call('HDEL', KEYS[2], name) end
end
local function drop(member)
  local principal, length, key = string.match(member, '^([^|]*)|(%d+)|(.*)$')
  redis.call('ZREM', KEYS[3], member)
  redis.call('ZREM', own(principal), member)
  redis.call('DEL', key)
  count('of ' .. principal, -tonumber(length))
  count('total', -tonumber(length))
end
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', string.format('%.0f', now))) do drop(member) end
local name = 'of ' .. ARGV[2]
while size(name) + bytes > limit or size('total') + bytes > total do
  local oldest = redis.call('ZRANGE', own(ARGV[2]), 0, 0)[1]
  if not oldest then return 0 end
  drop(oldest)
end
local member = ARGV[2] .. '|' .. ARGV[3] .. '|' .. KEYS[1]
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[4])
for _, set in ipairs({ KEYS[3], own(ARGV[2]) }) do
  redis.call('ZADD', set, string.format('%.0f', now + tonumber(ARGV[4]) * 1000), member)
  redis.call('PEXPIRE', set, 2 * tonumber(ARGV[4]))
end
count(name, bytes)
count('total', bytes)
redis.call('PEXPIRE', KEYS[2], 2 * tonumber(ARGV[4]))
return 1`,
}

const get: Script = { lua: `return { redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1]) }` }

/** Values that expire, within limits for each principal and in total. `name`: start of their keys. */
export class BoundedValues {
  readonly #redis: Redis
  readonly #base: string
  readonly #limits: ValueLimits

  constructor(redis: Redis, name: string, limits: ValueLimits) {
    this.#redis = redis
    this.#base = `${redis.prefix}{${name}}:`
    this.#limits = limits
  }

  /** Stores a value, and evicts the oldest ones of its principal if that is necessary. */
  async put(
    key: string,
    value: string,
    { principal, keepMs }: { readonly principal: string; readonly keepMs: number },
  ): Promise<void> {
    const { bytesPerValue, bytesPerPrincipal, bytes } = this.#limits
    const size = Buffer.byteLength(value)
    if (size > bytesPerValue) return
    const args = [value, hashed(principal), size, keepMs, bytesPerPrincipal, bytes].map(String)
    await this.#redis.script(put, [this.#keyOf(key), `${this.#base}sizes`, `${this.#base}all`], args)
  }

  /** Returns a value, and how long it is still stored. */
  async get(key: string): Promise<{ readonly value: string; readonly keepMs: number } | undefined> {
    const reply = await this.#redis.script(get, [this.#keyOf(key)], [])
    const [value, keepMs] = Array.isArray(reply) ? (reply as unknown[]) : []
    return typeof value === 'string' && Number(keepMs) > 0 ? { value, keepMs: Number(keepMs) } : undefined
  }

  #keyOf(key: string): string {
    return `${this.#base}${hashed(key)}`
  }
}
