import { ClientError } from '@unfold-mcp/client'
import { expect, test } from 'vitest'
import { SimulatedClock } from '../../../test/simulated-clock.ts'
import { Health } from './health.ts'

const silent = new ClientError('timeout', 'no response', { what: 'a ping', timeoutMs: 10_000 })
const away = new ClientError('unreachable', 'connection refused', { target: 'x' })
const pausing = new ClientError('unreachable', 'later', { target: 'x', status: 503, retryAfterMs: 2_000 })
const stranger = new ClientError('login_required', 'who are you', { target: 'x' })

function watched(answer: (ping: number) => Error | undefined, isBusy = false) {
  const clock = new SimulatedClock()
  const seen = { pings: 0, lost: [] as unknown[] }
  const health = new Health({
    ping(timeoutMs) {
      const error = answer(++seen.pings)
      return new Promise((resolve, reject) => {
        clock.after(error === silent ? timeoutMs : 1, () => (error === undefined ? resolve() : reject(error)))
      })
    },
    lost(error) {
      seen.lost.push(error)
      health.close()
    },
    isBusy: () => isBusy,
    settings: () => ({ pingMs: 30_000, pingTimeoutMs: 10_000 }),
    clock,
    random: () => 0.5,
  })
  return { clock, health, seen }
}

test('a server that responds is only pinged at intervals', async () => {
  const { clock, health, seen } = watched(() => undefined)
  await clock.run(300_000)
  health.close()
  expect(seen).toEqual({ pings: 10, lost: [] })
})

test('an active connection is not pinged', async () => {
  const { clock, health, seen } = watched(() => undefined)
  for (let at = 0; at < 300_000; at += 5_000) clock.after(at, () => health.active())
  await clock.run(300_000)
  health.close()
  expect(seen.pings).toBe(0)
})

test('a busy server is not pinged', async () => {
  const { clock, health, seen } = watched(() => silent, true)
  await clock.run(300_000)
  health.close()
  expect(seen.pings).toBe(0)
})

test('three timeouts count, two failed connections, and one refusal or requested pause', async () => {
  for (const [error, pings] of [
    [silent, 3],
    [away, 2],
    [stranger, 1],
    [pausing, 1],
  ] as const) {
    const { clock, seen } = watched(() => error)
    await clock.run(120_000)
    expect(seen).toEqual({ pings, lost: [error] })
  }
})

test('a response in between resets the count', async () => {
  const { clock, health, seen } = watched((ping) => (ping % 3 === 0 ? undefined : silent))
  await clock.run(600_000)
  health.close()
  expect(seen.pings).toBeGreaterThan(20)
  expect(seen.lost).toEqual([])
})

test('a suspicious connection is pinged immediately, one ping at a time', async () => {
  const { clock, health, seen } = watched(() => undefined)
  health.check()
  health.check()
  await clock.run(10)
  health.close()
  expect(seen.pings).toBe(1)
})

test('a response after closing is ignored', async () => {
  const { clock, health, seen } = watched(() => stranger)
  health.check()
  health.close()
  await clock.run(100)
  expect(seen.lost).toEqual([])
})
