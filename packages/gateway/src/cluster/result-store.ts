import { isRecord } from '@unfold-mcp/core'
import type { SharedResults, StoredResult } from '../results/store.ts'
import { BoundedValues, type ValueLimits } from './bounded-values.ts'
import type { Redis } from './redis.ts'

const mebibyte = 1_048_576
const format = 1

const defaultLimits: ValueLimits = {
  bytesPerValue: 8 * mebibyte,
  bytesPerPrincipal: 64 * mebibyte,
  bytes: 256 * mebibyte,
}

/** Truncated results that every replica can read. Only their owner can: the key depends on it. */
export function redisResults(redis: Redis, limits: Partial<ValueLimits> = {}): SharedResults {
  const values = new BoundedValues(redis, 'results', { ...defaultLimits, ...limits })
  const keyOf = (owner: string, handle: string): string => `${owner} ${handle}`
  return {
    async put(owner, handle, result, keepMs) {
      const value = JSON.stringify({ format, result })
      // The connection reports the problem; this replica has the result too.
      await values.put(keyOf(owner.key, handle), value, { principal: owner.principal, keepMs }).catch(() => undefined)
    },
    async get(owner, handle) {
      const found = await values.get(keyOf(owner.key, handle)).catch(() => undefined)
      const result = found === undefined ? undefined : parse(found.value)
      return found === undefined || result === undefined ? undefined : { result, keepMs: found.keepMs }
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
