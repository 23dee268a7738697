import { expect, test } from 'vitest'
import { RedisClock } from './redis-clock.ts'

test('the clock of Redis is known within the fastest reply, and slower replies do not blur it', () => {
  const clock = new RedisClock()
  expect(clock.at(0)).toBeUndefined()
  clock.observe(5_000, { sentAt: 0, receivedAt: 2_000 })
  expect(Math.abs((clock.at(1_000) ?? 0) - 5_000)).toBeLessThanOrEqual(1_001)
  clock.observe(7_000, { sentAt: 2_999, receivedAt: 3_001 })
  expect(Math.abs((clock.at(3_000) ?? 0) - 7_000)).toBeLessThanOrEqual(2)
  clock.observe(8_000, { sentAt: 3_100, receivedAt: 5_000 })
  expect(Math.abs((clock.at(3_000) ?? 0) - 7_000)).toBeLessThanOrEqual(2)
})

test('a server with another clock replaces the estimate', () => {
  const clock = new RedisClock()
  clock.observe(5_000, { sentAt: 0, receivedAt: 2 })
  clock.observe(1_000, { sentAt: 10, receivedAt: 12 })
  expect(Math.abs((clock.at(11) ?? 0) - 1_000)).toBeLessThanOrEqual(2)
})
