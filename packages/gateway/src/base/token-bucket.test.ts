import { expect, test } from 'vitest'
import { TokenBucket } from './token-bucket.ts'

test('a burst passes at once, then tokens at the configured rate, never more than the burst', () => {
  let ms = 0
  const flow = new TokenBucket({ capacity: 10, refill: 5, everyMs: 1_000, now: () => ms })
  expect([flow.tryTake(6), flow.tryTake(6), flow.tryTake(4), flow.tryTake(1)]).toEqual([true, false, true, false])
  expect([flow.msUntil(1), flow.msUntil(0)]).toEqual([200, 0])
  ms = 1_000
  expect([flow.tryTake(5), flow.tryTake(1)]).toEqual([true, false])
  ms = 3_600_000
  expect([flow.tryTake(11), flow.tryTake(10), flow.tryTake(1)]).toEqual([false, true, false])
})
