import { expect } from 'vitest'
import { silent } from '../../packages/gateway/src/base/log.ts'
import { parseConfig } from '../../packages/gateway/src/config/read.ts'
import { Gateway } from '../../packages/gateway/src/gateway/gateway.ts'
import { memoryCatalog } from '../../packages/gateway/src/stores/memory.ts'
import { SimulatedClock } from '../../packages/gateway/test/simulated-clock.ts'
import { SimulatedServer } from '../../packages/gateway/test/simulated-server.ts'
import { verifies } from '../verifies.ts'

verifies('D06', async () => {
  const clock = new SimulatedClock()
  const quick = { there: 0, back: 0, fails: false }
  // The server connects at once, but its first tools/list takes a minute.
  const server = new SimulatedServer(clock, [quick, { ...quick, back: 60_000 }])
  const servers = { up: { url: 'http://127.0.0.1', sweepMs: 0, pingMs: 0 } }
  const gateway = await Gateway.open({
    read: parseConfig(JSON.stringify({ mcpServers: servers }), { file: 'unfold.json', environment: {} }),
    folder: '/',
    store: memoryCatalog(),
    log: silent,
    clock,
    random: () => 0.5,
    open: () => server.open(),
  })
  const failed: (readonly [at: number, error: string])[] = []
  gateway.upstreams.events.on('list_failed', ({ error }) => failed.push([clock.now(), error]))
  await clock.run(29_999)
  expect(failed).toEqual([])
  await clock.run(30_100)
  expect(failed).toEqual([[expect.closeTo(30_000, -1), expect.stringContaining('no response within 30 s')]])
  await clock.run(40_000)
  expect(gateway.source.entries().map(({ tool }) => tool.name)).toEqual(['up__tool_0'])
  // A result after the timeout is ignored.
  await clock.run(70_000)
  expect(server.lists).toBe(2)
  await gateway.close()
})
