import type { SharedBuckets } from '../middleware/rate-limiter.ts'
import { hashed } from './hashed.ts'
import type { Redis, Script } from './redis.ts'

// The time is that of Redis. It may go back after a failover; then nothing is added until it has caught up.
const take: Script = {
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local capacity = tonumber(ARGV[1])
local state = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(state[1]) or capacity, tonumber(state[2]) or now
tokens = math.min(capacity, tokens + math.max(0, now - at) * capacity / 60000)
local wait = 0
if tokens >= 1 then tokens = tokens - 1 else wait = math.ceil((1 - tokens) * 60000 / capacity) end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], 120000)
return wait`,
}

/** Rate limits that apply to all replicas together, in one round trip. */
export const redisBuckets = (redis: Redis): SharedBuckets => ({
  async take(key, perMinute) {
    try {
      return Number(await redis.script(take, [`${redis.prefix}rate:${hashed(key)}`], [`${perMinute}`]))
    } catch {
      // The connection reports the problem.
      return undefined
    }
  },
})
