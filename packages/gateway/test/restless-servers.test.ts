import { expect, test } from 'vitest'
import { until } from '../../client/test/processes.ts'
import { served } from './served.ts'
import { server } from './upstreams.ts'

interface Counts {
  readonly lists: number
  readonly changes: number
}

interface Upstream {
  readonly slowdown?: { readonly costMs: number; readonly delayMs: number }
}

interface Restless {
  readonly tools: number
  readonly resources?: number
  readonly everyMs: number
  readonly changes?: number
}

const restless = (is: Restless): object => server('restless.mjs', JSON.stringify(is))

test('AT-R05-1: a server whose thousands of tools change all the time is refreshed at a pace that follows its cost, and the last list is right', async () => {
  await using gateway = await served({
    mcpServers: { big: restless({ tools: 3_000, everyMs: 100 }) },
    exposure: 'everything',
  })
  const { upstreams } = gateway.gateway
  const startedAt = performance.now()
  await gateway.ready('big')
  await using _client = await gateway.connect()
  const counts = async (tool: 'counts' | 'stop'): Promise<Counts> => {
    const { content } = await upstreams.call('big', tool, {})
    const [first] = content
    return JSON.parse(first?.type === 'text' ? first.text : '{}') as Counts
  }
  const slowed = (): readonly string[] => gateway.lines.filter((line) => line.includes('"event":"slowed"'))
  // On a busy machine, the first refreshes may take longer than the rest after them, which then delays nothing.
  await until(async () => (await counts('counts')).changes >= 40 && slowed().length > 0, 'it has changed often')
  const { lists, changes } = await counts('stop')
  // Each refresh costs far more than the time between two changes. Without pacing, nearly every change is read.
  expect(lists).toBeLessThanOrEqual(changes / 2)
  const last = (): boolean => upstreams.tools('big').at(-1)?.description?.endsWith(`Version ${changes}.`) === true
  await until(last, 'the last list is served')
  // Logged once, and again only after a minute without a delay: on a busy machine, refreshes may take longer than the rest after them.
  expect(slowed().length).toBeLessThanOrEqual(1 + (performance.now() - startedAt) / 60_000)
  expect(slowed()[0]).toMatch(/each refresh takes .+: it is refreshed at most every .+\. Limit its tools with \\"allow\\"/u)
  const { slowdown } = (await gateway.api('/upstreams/big')) as Upstream
  expect(slowdown?.costMs).toBeGreaterThan(0)
  expect(slowdown?.delayMs).toBeGreaterThanOrEqual(9 * (slowdown?.costMs ?? 0))
}, 300_000)

test('AT-R05-2: a small server that changes all the time is followed at once', async () => {
  const changes = 20
  await using gateway = await served({ mcpServers: { small: restless({ tools: 3, everyMs: 200, changes }) } })
  const { upstreams } = gateway.gateway
  let refreshes = 0
  upstreams.events.on('tools', () => {
    refreshes += 1
  })
  const last = (): boolean => upstreams.tools('small').at(-1)?.description?.endsWith(`Version ${changes}.`) === true
  await until(last, 'the last list is served')
  expect(refreshes).toBeGreaterThan(changes / 4)
})

test('AT-R05-3: a server whose thousands of resources change all the time is refreshed at a pace that follows its cost', async () => {
  const changes = 40
  await using gateway = await served({ mcpServers: { big: restless({ tools: 1, resources: 9_000, everyMs: 100, changes }) } })
  const { upstreams, proxy } = gateway.gateway
  await gateway.ready('big')
  await using _client = await gateway.connect()
  const last = (): boolean => proxy.documents('big').resources.at(-1)?.description === `Version ${changes}.`
  await until(last, 'the last list is served')
  const { content } = await upstreams.call('big', 'counts', {})
  const [first] = content
  const { lists } = JSON.parse(first?.type === 'text' ? first.text : '{}') as Counts
  expect(lists).toBeLessThanOrEqual(changes / 2)
  // On a slow machine the server itself may be slower than the limit.
  expect(gateway.lines.filter((line) => line.includes('"event":"slowed"')).length).toBeLessThanOrEqual(1)
})
