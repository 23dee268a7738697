import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { fixCacheHints } from './cache-hints.ts'

function fixed(result: Record<string, unknown>): {
  readonly result: Record<string, unknown>
  readonly problem: string | undefined
} {
  const message = { jsonrpc: '2.0', id: 1, result } as JSONRPCMessage
  return { problem: fixCacheHints(message), result }
}

test.each([
  [-5, 0],
  [1.5, 1],
  [1e300, 86_400_000],
  ['60000', 0],
  [undefined, 0],
  [null, 0],
  [Number.NaN, 0],
])('a ttlMs of %s becomes %s, and the list is unchanged', (ttlMs, expected) => {
  const { result, problem } = fixed({ tools: [], ttlMs, cacheScope: 'public' })
  expect(result).toEqual({ tools: [], ttlMs: expected, cacheScope: 'public' })
  expect(problem).toContain(`${expected} is used`)
})

test('an invalid cacheScope becomes private', () => {
  expect(fixed({ contents: [], ttlMs: 5, cacheScope: 'all' }).result).toEqual({ contents: [], ttlMs: 5, cacheScope: 'private' })
})

test('valid hints and results that cannot be cached are unchanged', () => {
  expect(fixed({ tools: [], ttlMs: 0, cacheScope: 'private' }).problem).toBeUndefined()
  expect(fixed({ content: [], ttlMs: -5 })).toEqual({ problem: undefined, result: { content: [], ttlMs: -5 } })
})
