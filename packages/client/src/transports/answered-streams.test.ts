import { expect, test } from 'vitest'
import type { Clock } from '../time/clock.ts'
import { AnsweredStreams } from './answered-streams.ts'
import { Exchange } from './exchange.ts'

function manualClock(): Clock & { readonly timers: number; pass(ms: number): void } {
  let now = 0
  const timers = new Map<() => void, number>()
  return {
    now: () => now,
    wallTime: () => now,
    after(ms, run) {
      timers.set(run, now + ms)
      return () => timers.delete(run)
    },
    get timers() {
      return timers.size
    },
    pass(ms) {
      now += ms
      for (const [run, at] of [...timers]) {
        if (at > now) continue
        timers.delete(run)
        run()
      }
    },
  }
}

const exchange = (id: number): Exchange => new Exchange({ jsonrpc: '2.0', id, method: 'tools/call' }, undefined)

test('a stream is closed half a second after its response, with one timer for all', () => {
  const clock = manualClock()
  const streams = new AnsweredStreams(clock)
  const [first, second, ended] = [exchange(1), exchange(2), exchange(3)] as const
  streams.add(first)
  streams.add(ended)
  streams.delete(ended)
  clock.pass(300)
  streams.add(second)
  expect(clock.timers).toBe(1)
  clock.pass(200)
  expect([first, second, ended].map(({ signal }) => signal.aborted)).toEqual([true, false, false])
  clock.pass(300)
  expect(second.signal.aborted).toBe(true)
  expect(clock.timers).toBe(0)
})

test('of many streams the oldest are closed at once, and the others with the transport', () => {
  const clock = manualClock()
  const streams = new AnsweredStreams(clock)
  const all = Array.from({ length: 40 }, (_, id) => exchange(id))
  for (const each of all) streams.add(each)
  expect(all.map(({ signal }) => signal.aborted)).toEqual(all.map((_, index) => index < 8))
  streams.close()
  expect(all.every(({ signal }) => signal.aborted)).toBe(true)
  expect(clock.timers).toBe(0)
})
