import { expect, test } from 'vitest'
import { SimulatedClock } from '../../test/simulated-clock.ts'
import { SimulatedServer, toolsOf } from '../../test/simulated-server.ts'
import { Upstream } from './upstream.ts'

const idleStopMs = 200
const slow = { there: idleStopMs, back: idleStopMs, fails: false }
const fast = { there: 1, back: 1, fails: false }

/** An upstream that is stopped when idle, on a server with these delays: of the connection, then of each read. */
function idling(delays: readonly (typeof slow)[]) {
  const clock = new SimulatedClock()
  const server = new SimulatedServer(clock, delays)
  const upstream = new Upstream({
    name: 'up',
    config: { target: { url: 'http://127.0.0.1' }, sweepMs: 0, pingMs: 0, start: 'lazy', idleStopMs },
    cachedTools: toolsOf(1),
    clock,
    random: () => 0.5,
    emit: () => undefined,
    open: async () => ({
      ...(await server.open()),
      call: async (_tool, args) => {
        await new Promise<void>((resolve) => void clock.after(Number(args?.ms), resolve))
        return { content: [], isError: false, files: [], outputProblems: [] }
      },
    }),
  })
  upstream.start()
  return { clock, server, upstream }
}

test('an upstream is not stopped as idle during a call that began before the idle time was over', async () => {
  const { clock, server, upstream } = idling([])
  const first = upstream.call('tool_0', { ms: 1 })
  await clock.run(100)
  expect(await first).toMatchObject({ isError: false })
  const second = upstream.call('tool_0', { ms: 10 * idleStopMs })
  await clock.run(150 + idleStopMs)
  expect(upstream.state).toBe('ready')
  await clock.run()
  expect(await second).toMatchObject({ isError: false })
  expect([upstream.state, server.opened]).toEqual(['idle', 1])
})

test('an upstream is not stopped as idle while its tools are requested', async () => {
  const { clock, server, upstream } = idling([fast, fast, slow])
  const first = upstream.call('tool_0', { ms: 50 })
  await clock.run(100)
  await first
  const tools = upstream.discover()
  await clock.run()
  expect(await tools).toEqual(toolsOf(1))
  expect([upstream.state, server.opened]).toEqual(['idle', 1])
})

test('an upstream is not stopped as idle before its tools are known', async () => {
  const { clock, server, upstream } = idling([fast, slow])
  server.version = 3
  const call = upstream.call('tool_0', { ms: 1 })
  await clock.run()
  await call
  expect(upstream.tools).toEqual(toolsOf(3))
  expect([upstream.state, server.opened]).toEqual(['idle', 1])
})
