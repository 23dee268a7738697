import { expect } from 'vitest'
import { until } from '../../packages/client/test/processes.ts'
import type { Peer } from '../../packages/gateway/test/faults/peer.ts'
import { deferred } from '../deferred.ts'
import { upstreamTransports } from '../fixtures/upstream-and-gateway.ts'
import { textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const everyTransport = upstreamTransports()
const many = (count: number): readonly string[] => Array.from({ length: count }, (_, each) => `tool_${each}`)
const paged =
  (pageSize: number) =>
  (peer: Peer): void => {
    peer.pageSize = pageSize
  }

verifies('D01', everyTransport, async ({ open }) => {
  let isFirst = true
  const before = (peer: Awaited<ReturnType<typeof open>>['peer']): void => {
    // The tools change after the first list is built and before it is sent.
    peer.afterList = async () => {
      if (isFirst) peer.put('early')
      isFirst = false
    }
  }
  await using setup = await open({ before })
  await setup.running.lists('up__early')
  expect(setup.running.listed()).toEqual(['up__one', 'up__early'])
})

verifies('D02', everyTransport, async ({ open }) => {
  await using setup = await open()
  const { peer, running } = setup
  await untilFollowed(setup)
  const lists = peer.lists
  for (const what of ['prompts/list_changed', 'resources/list_changed', 'resources/updated', 'message', 'made_up'])
    peer.say(`notifications/${what}`)
  await untilSeparate(setup)
  expect(peer.lists).toBe(lists)
  peer.put('two')
  await running.lists('up__two')
  expect(peer.lists).toBe(lists + 1)
})

verifies('D03', everyTransport, async ({ open }) => {
  await using setup = await open({ tools: ['same', 'other', 'gone'] })
  const { peer, running } = setup
  await untilFollowed(setup)
  peer.tools.delete('gone')
  peer.tools.set('other', 'Does something else')
  peer.tools.set('new', 'Is new')
  peer.put('newer')
  await running.lists('up__newer')
  const change = running.of('tools', 'up').at(-1)
  expect(change).toMatchObject({ added: 2, changed: 1, removed: 1, reads: expect.any(Number) })
  expect(change?.ms).toBeGreaterThanOrEqual(0)
})

verifies('D04', everyTransport, async ({ open }) => {
  await using setup = await open()
  const { peer, running } = setup
  await untilFollowed(setup)
  await using client = await running.connect()
  const lists = peer.lists
  for (const name of many(20)) peer.put(name)
  await running.lists('up__tool_19')
  await until(() => client.notices === 1, 'the notification')
  await untilSeparate(setup)
  expect(peer.lists).toBe(lists + 1)
  expect(client.notices).toBe(1)
})

verifies('D05', everyTransport, async ({ open }) => {
  await using setup = await open()
  const { peer, running } = setup
  await untilFollowed(setup)
  const lists = peer.lists
  const answer = deferred()
  peer.afterList = () => answer.promise
  peer.put('two')
  await until(() => peer.lists === lists + 1, 'tools/list is running')
  for (const name of many(5)) peer.put(name)
  await untilSeparate(setup)
  peer.afterList = () => Promise.resolve()
  answer.resolve()
  await running.lists('up__tool_4')
  await untilSeparate(setup)
  expect(peer.lists).toBe(lists + 2)
})

verifies('D07', everyTransport, async ({ open }) => {
  await using setup = await open()
  const { peer, running } = setup
  await untilFollowed(setup)
  const lists = peer.lists
  const answer = deferred()
  peer.afterList = () => answer.promise
  peer.put('two')
  await until(() => peer.lists > lists, 'tools/list is running')
  peer.tools.set('three', 'Came while it was away')
  peer.cut()
  peer.afterList = () => Promise.resolve()
  answer.resolve()
  await running.lists('up__three')
  expect(running.listed()).toEqual(['up__one', 'up__two', 'up__three'])
})

verifies('D08', upstreamTransports(['stdio', 'http', 'sse']), async ({ open }) => {
  await using setup = await open({
    before(peer) {
      peer.declares = false
    },
  })
  const { peer, running } = setup
  await untilFollowed(setup)
  for (const name of many(3)) {
    peer.put(name)
    await running.lists(`up__${name}`)
  }
  const warnings = running.of('warning', 'up').filter(({ message }) => message.includes('without declaring tools.listChanged'))
  expect(warnings).toHaveLength(1)
  expect(running.of('list_changed', 'up').every(({ isDeclared }) => !isDeclared)).toBe(true)
})

verifies('D09', everyTransport, async ({ open }) => {
  await using setup = await open()
  const { peer, running } = setup
  await untilFollowed(setup)
  await using client = await running.connect()
  const changed: string[] = []
  const { upstreams } = running.gateway
  upstreams.onToolsChanged(undefined)
  upstreams.onToolsChanged(() => {
    throw new Error('listener failed')
  })
  upstreams.onToolsChanged(({ upstream }) => changed.push(upstream))
  peer.put('two')
  await until(() => client.notices === 1, 'the notification')
  expect(changed).toEqual(['up'])
  expect(await client.names()).toEqual(['up__one', 'up__two'])
})

verifies('D10', everyTransport, async ({ open }) => {
  await using setup = await open({
    settings: { sweepMs: 150 },
    before(peer) {
      peer.declares = false
    },
  })
  const { peer, running } = setup
  await running.lists('up__one')
  peer.tools.set('two', 'Came without a word')
  await running.lists('up__two')
  expect(running.of('list_changed', 'up')).toHaveLength(0)
  expect(running.gateway.upstreams.get('up')?.status.announcesChanges).toBe(false)
})

verifies('D11', everyTransport, async ({ open }) => {
  await using setup = await open()
  const { peer, running } = setup
  await untilFollowed(setup)
  await using client = await running.connect('stateless')
  const answer = deferred()
  const lists = peer.lists
  peer.afterList = () => answer.promise
  peer.put('two')
  await until(() => peer.lists > lists, 'tools/list is running')
  await running.edit({})
  await until(() => client.notices === 1, 'the notification')
  answer.resolve()
  expect(await client.names()).toEqual([])
  await expect(client.call('up__one')).rejects.toThrow('not found')
  await until(() => peer.subscribers === 0, 'the gateway has disconnected')
  expect(client.notices).toBe(1)
  expect(running.of('tools', 'up').at(-1)).toMatchObject({ removed: 1, tools: [] })
})

verifies('D12', everyTransport, async ({ open }) => {
  await using setup = await open()
  const { peer, running } = setup
  await untilFollowed(setup)
  const answer = deferred()
  const lists = peer.lists
  peer.afterList = () => answer.promise
  peer.put('two')
  await until(() => peer.lists > lists, 'tools/list is running')
  peer.put('three')
  await running.gateway.close()
  const asked = peer.asked.length
  answer.resolve()
  peer.put('four')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(peer.asked.slice(asked)).toEqual([])
  expect(peer.lists).toBe(lists + 1)
  expect(running.state('up')).toBe('stopped')
})

verifies('D13', everyTransport, async ({ open }) => {
  await using setup = await open({
    tools: many(1_000),
    before: paged(100),
  })
  const { peer, running } = setup
  await untilFollowed(setup)
  const before = running.gateway.source.entries()
  expect(before).toHaveLength(1_000)
  peer.put('tool_500', 'Does something else')
  await until(() => running.of('tools', 'up').at(-1)?.changed === 1, 'the change is reported')
  const after = running.gateway.source.entries()
  expect(after).toHaveLength(1_000)
  expect(after.filter((entry, at) => entry !== before[at]).map(({ tool }) => tool.name)).toEqual(['up__tool_500'])
})

verifies('D14', everyTransport, async ({ open }) => {
  await using setup = await open({ tools: many(3) })
  const { peer, running } = setup
  await untilFollowed(setup)
  await using client = await running.connect()
  peer.tools.clear()
  peer.say()
  await until(() => client.notices === 1, 'the notification')
  expect(await client.names()).toEqual([])
  expect(running.state('up')).toBe('ready')
  peer.put('again')
  await running.lists('up__again')
})

verifies('D15', everyTransport, async ({ open }) => {
  await using setup = await open({
    tools: many(7),
    before: paged(2),
  })
  const { peer, running } = setup
  await untilFollowed(setup)
  expect(running.listed()).toHaveLength(7)
  expect(peer.asked.filter((method) => method === 'a further page').length).toBeGreaterThanOrEqual(3)
  peer.isCircular = true
  peer.put('more')
  await until(() => running.of('list_failed', 'up').length > 0, 'the failure is reported')
  expect(running.of('list_failed', 'up')[0]?.error).toContain('sent the same cursor twice')
  expect(running.listed()).toHaveLength(7)
  peer.isCircular = false
  await running.lists('up__more')
})

verifies('D16', everyTransport, async ({ open }) => {
  await using setup = await open()
  const { peer, running } = setup
  await untilFollowed(setup)
  await using client = await running.connect()
  const answer = deferred()
  const lists = peer.lists
  peer.afterList = () => answer.promise
  peer.put('two')
  await until(() => peer.lists > lists, 'tools/list is running')
  expect(textOf(await client.call('up__one'))).toBe('one was called')
  expect(await client.names()).toEqual(['up__one'])
  expect(running.listed()).toEqual(['up__one'])
  answer.resolve()
  await running.lists('up__two')
})

verifies('D17', everyTransport, async ({ open }) => {
  await using setup = await open({
    before(peer) {
      peer.afterList = async () => peer.say()
    },
  })
  const { peer, running } = setup
  await until(() => running.of('throttled', 'up').length === 1, 'the throttling is reported')
  expect(running.gateway.upstreams.get('up')?.status.throttleMs).toBeGreaterThan(0)
  peer.put('two')
  await running.lists('up__two')
})

verifies('D18', everyTransport, async ({ open }) => {
  await using setup = await open({ tools: ['one'] })
  const { peer, running } = setup
  await untilFollowed(setup)
  peer.refusal = 'not today'
  peer.put('two')
  await until(() => running.of('list_failed', 'up').length > 0, 'the failure is reported')
  const [failed] = running.of('list_failed', 'up')
  expect(failed).toMatchObject({ attempt: 1 })
  expect(failed?.error).toContain('not today')
  expect(failed?.retryInMs).toBeGreaterThan(0)
  expect(running.listed()).toEqual(['up__one'])
  peer.refusal = undefined
  await running.lists('up__two')
})

verifies('D20', everyTransport, async ({ open }) => {
  await using setup = await open({ tools: ['one'] })
  const { peer, running } = setup
  await untilFollowed(setup)
  const upstream = running.gateway.upstreams.get('up')
  for (const name of ['two', 'three']) {
    upstream?.followBudget.charge(300)
    peer.put(name)
    await running.lists(`up__${name}`)
  }
  expect(running.of('slowed', 'up')).toHaveLength(1)
  const { slowdown } = upstream?.status ?? {}
  expect(slowdown?.costMs).toBeGreaterThanOrEqual(300)
  expect(slowdown?.delayMs).toBe(9 * (slowdown?.costMs ?? 0))
})

verifies('D19', everyTransport, async ({ open }) => {
  await using setup = await open({ rest: { exposure: 'search' } })
  await using whole = await open({ rest: { exposure: 'everything' } })
  await Promise.all([untilFollowed(setup), untilFollowed(whole)])
  await using one = await whole.running.connect('session')
  await using other = await whole.running.connect('stateless')
  await using searching = await setup.running.connect('session')
  setup.peer.put('weigh_parcel', 'Weighs a parcel')
  whole.peer.put('weigh_parcel', 'Weighs a parcel')
  await until(() => one.notices === 1 && other.notices === 1, 'both clients are notified')
  for (const client of [one, other]) {
    expect(await client.names()).toEqual(['up__one', 'up__weigh_parcel'])
    expect(textOf(await client.call('up__weigh_parcel'))).toBe('weigh_parcel was called')
  }
  await setup.running.lists('up__weigh_parcel')
  expect(textOf(await searching.call('search_tools', { query: 'weigh a parcel' }))).toContain('up__weigh_parcel')
  expect([one.notices, other.notices]).toEqual([1, 1])
})

type Setup = Awaited<ReturnType<ReturnType<typeof everyTransport.make>['open']>>

/** Waits until the gateway has listed the tools and receives notifications. */
async function untilFollowed({ peer, running }: Setup): Promise<void> {
  await until(() => running.listed().length > 0 && peer.subscribers > 0, 'the gateway receives notifications')
  await untilSeparate({ peer, running })
}

/** Waits long enough that the next notification is not merged with the previous one. */
async function untilSeparate({ running }: Pick<Setup, 'peer' | 'running'>): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 120))
  await until(() => running.state('up') === 'ready', 'the server is ready')
}
