import { isRecord } from '@unfold-mcp/core'
import type { SharedResults, StoredResult } from '../results/store.ts'
import { hashed } from './hashed.ts'
import type { Redis, Script } from './redis.ts'

const mebibyte = 1_048_576
const format = 1

export interface ResultLimits {
  /** Longer results can only be read from the replica that has them. */
  readonly bytesPerResult: number
  readonly bytesPerPrincipal: number
  readonly bytes: number
}

const defaultLimits: ResultLimits = {
  bytesPerResult: 8 * mebibyte,
  bytesPerPrincipal: 64 * mebibyte,
  bytes: 256 * mebibyte,
}

// Scores are microseconds, so that results of the same millisecond have an order. Evicts the oldest results of the same principal only, so that nobody can evict those of others. A member of the sorted sets is
// "principal|bytes|key". KEYS: result, sizes by principal, all results by expiry. ARGV: value, principal, bytes, time to keep, limits.
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

/** Truncated results that every replica can read. Only their owner can: the key depends on it. */
export function redisResults(redis: Redis, limits: Partial<ResultLimits> = {}): SharedResults {
  const { bytesPerResult, bytesPerPrincipal, bytes: total } = { ...defaultLimits, ...limits }
  const base = `${redis.prefix}{results}:`
  const keyOf = (owner: string, handle: string): string => `${base}${hashed(`${owner} ${handle}`)}`
  return {
    async put(owner, handle, result, keepMs) {
      const value = JSON.stringify({ format, result })
      const size = Buffer.byteLength(value)
      if (size > bytesPerResult) return
      const args = [value, hashed(owner.principal), size, keepMs, bytesPerPrincipal, total].map(String)
      // The connection reports the problem; this replica has the result too.
      await redis.script(put, [keyOf(owner.key, handle), `${base}sizes`, `${base}all`], args).catch(() => undefined)
    },
    async get(owner, handle) {
      const reply = await redis.script(get, [keyOf(owner.key, handle)], []).catch(() => undefined)
      const [text, keepMs] = Array.isArray(reply) ? reply : []
      const result = typeof text === 'string' ? parse(text) : undefined
      return result === undefined || Number(keepMs) <= 0 ? undefined : { result, keepMs: Number(keepMs) }
    },
  }
}

function parse(text: string): StoredResult | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) && value.format === format && isStoredResult(value.result) ? value.result : undefined
  } catch {
    return undefined
  }
}

function isStoredResult(value: unknown): value is StoredResult {
  if (!isRecord(value) || typeof value.characters !== 'number') return false
  if (value.kind === 'text') return typeof value.text === 'string' && typeof value.sent === 'number'
  return value.kind === 'block' && isRecord(value.block) && typeof value.block.type === 'string'
}
