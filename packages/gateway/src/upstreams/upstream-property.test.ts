import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { SimulatedClock } from '../../test/simulated-clock.ts'
import { delays, SimulatedServer, toolsOf } from '../../test/simulated-server.ts'
import { Upstream } from './upstream.ts'

const event = fc.record({
  pause: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 8_000 })),
  kind: fc.constantFrom('change', 'change', 'death', 'return'),
})

test('however an upstream changes, dies and returns, its current tools are listed in the end', async () => {
  await fc.assert(
    fc.asyncProperty(delays, fc.array(event, { maxLength: 14 }), async (times, events) => {
      const clock = new SimulatedClock()
      const server = new SimulatedServer(clock, times)
      const notified: number[] = []
      const upstream = new Upstream({
        name: 'up',
        // Periodic polling would hide a missed change.
        config: { target: { url: 'http://127.0.0.1' }, sweepMs: 0, pingMs: 0 },
        clock,
        random: () => 0.5,
        emit: (type) => type === 'tools' && notified.push(clock.now()),
        open: () => server.open(),
      })
      upstream.start()
      let at = 0
      for (const { pause, kind } of events) {
        at += pause
        clock.after(at, () => {
          if (kind === 'change') server.change()
          if (kind === 'death') server.die()
          if (kind === 'return') server.isUp = true
        })
      }
      clock.after(at + 1, () => {
        server.isUp = true
      })
      await clock.run()
      expect(upstream.state).toBe('ready')
      expect(upstream.tools).toEqual(toolsOf(server.version))
      expect(server.mostAtOnce).toBeLessThanOrEqual(1)
      expect(server.lists).toBeLessThanOrEqual(server.opened + server.notices + server.failures)
      await upstream.close()
    }),
    propertyRuns({ long: 10_000, sample: 500 }),
  )
}, 300_000)
