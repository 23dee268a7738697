import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { isRecord } from '@unfold-mcp/core'

// Results that must have cache hints in 2026-07-28.
const cacheable = ['tools', 'prompts', 'resources', 'resourceTemplates', 'contents']
const maxTtlMs = 86_400_000

/**
 * Replaces invalid cache hints of a result in place, because the SDK would discard the whole result. Returns the problem, if there
 * was one.
 */
export function fixCacheHints(message: JSONRPCMessage): string | undefined {
  const result: unknown = 'result' in message ? message.result : undefined
  if (!isRecord(result) || !cacheable.some((key) => key in result)) return undefined
  const { ttlMs, cacheScope } = result
  const hints = result as { ttlMs?: unknown; cacheScope?: unknown }
  const valid = validTtlMs(ttlMs)
  const isScope = cacheScope === 'public' || cacheScope === 'private'
  if (valid === ttlMs && isScope) return undefined
  hints.ttlMs = valid
  if (!isScope) hints.cacheScope = 'private'
  return valid === ttlMs
    ? `the cacheScope of a result is invalid; "private" is used.`
    : `the ttlMs of a result is invalid; ${valid} is used.`
}

const validTtlMs = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.min(Math.floor(value), maxTtlMs) : 0
