import { isFailure } from '@unfold-mcp/core'
import { expect, test } from 'vitest'
import { RateLimiter } from './rate-limiter.ts'

const call = (scope: string) => ({ scope, share: undefined })

test('a client can use its calls in a burst, then at the configured rate, and gets the time to wait', () => {
  let now = 0
  const rate = new RateLimiter({ perMinute: () => 60, now: () => now })
  const refusal = (): unknown => {
    try {
      rate.admit(call('a'))
      return undefined
    } catch (error) {
      return isFailure(error, 'rate_limited') ? error.details : error
    }
  }
  const calls = (): number => {
    let count = 0
    while (refusal() === undefined) count++
    return count
  }
  expect(calls()).toBe(60)
  expect(refusal()).toEqual({ limit: 60, retryAfterMs: 1_000 })
  now += 2_000
  expect(calls()).toBe(2)
  now += 3_600_000
  expect(calls()).toBe(60)
  expect(() => rate.admit(call('b'))).not.toThrow()
})

test('a lower limit also applies to existing clients, and the oldest clients are forgotten', () => {
  let limit = 100
  const rate = new RateLimiter({ perMinute: () => limit, now: () => 0 })
  rate.admit(call('a'))
  limit = 1
  rate.admit(call('a'))
  expect(() => rate.admit(call('a'))).toThrow(/1 calls per minute/u)
  for (let index = 0; index < 10_000; index++) rate.admit(call(`other ${index}`))
  expect(() => rate.admit(call('a'))).not.toThrow()
})
