import { expect, test } from 'vitest'
import { Flow } from './token-bucket.ts'

test('so much passes at once, then as much as time brings, and never more than at first', () => {
  let ms = 0
  const flow = new Flow({ most: 10, more: 5, everyMs: 1_000, now: () => ms })
  expect([flow.lets(6), flow.lets(6), flow.lets(4), flow.lets(1)]).toEqual([true, false, true, false])
  expect([flow.msUntil(1), flow.msUntil(0)]).toEqual([200, 0])
  ms = 1_000
  expect([flow.lets(5), flow.lets(1)]).toEqual([true, false])
  ms = 3_600_000
  expect([flow.lets(11), flow.lets(10), flow.lets(1)]).toEqual([false, true, false])
})
