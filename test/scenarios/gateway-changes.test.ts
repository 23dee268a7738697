import { expect } from 'vitest'
import { until } from '../../packages/client/test/processes.ts'
import type { Peer } from '../../packages/gateway/test/faults/peer.ts'
import { deferred } from '../deferred.ts'
import { upstreamsOver } from '../fixtures/behind-gateway.ts'
import { textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const everywhere = upstreamsOver()
const many = (count: number): readonly string[] => Array.from({ length: count }, (_, each) => `tool_${each}`)
const paged =
  (pageSize: number) =>
  (peer: Peer): void => {
    peer.pageSize = pageSize
  }

verifies('D01', everywhere, async ({ open }) => {
  let isFirst = true
  const before = (peer: Awaited<ReturnType<typeof open>>['peer']): void => {
    // The tools change after the first list is built and before it is sent.
    peer.afterList = async () => {
      if (isFirst) peer.put('early')
      isFirst = false
    }
  }
  await using behind = await open({ before })
  await behind.all.lists('up__early')
  expect(behind.all.listed()).toEqual(['up__one', 'up__early'])
})

verifies('D02', everywhere, async ({ open }) => {
  await using behind = await open()
  const { peer, all } = behind
  await heard(behind)
  const lists = peer.lists
  for (const what of ['prompts/list_changed', 'resources/list_changed', 'resources/updated', 'message', 'made_up'])
    peer.say(`notifications/${what}`)
  await apart(behind)
  expect(peer.lists).toBe(lists)
  peer.put('two')
  await all.lists('up__two')
  expect(peer.lists).toBe(lists + 1)
})

verifies('D03', everywhere, async ({ open }) => {
  await using behind = await open({ tools: ['same', 'other', 'gone'] })
  const { peer, all } = behind
  await heard(behind)
  peer.tools.delete('gone')
  peer.tools.set('other', 'Does something else')
  peer.tools.set('new', 'Is new')
  peer.put('newer')
  await all.lists('up__newer')
  const change = all.of('tools', 'up').at(-1)
  expect(change).toMatchObject({ added: 2, changed: 1, removed: 1, reads: 1 })
  expect(change?.ms).toBeGreaterThanOrEqual(0)
})

verifies('D04', everywhere, async ({ open }) => {
  await using behind = await open()
  const { peer, all } = behind
  await heard(behind)
  await using client = await all.connect()
  const lists = peer.lists
  for (const name of many(20)) peer.put(name)
  await all.lists('up__tool_19')
  await until(() => client.notices === 1, 'the notification')
  await apart(behind)
  expect(peer.lists).toBe(lists + 1)
  expect(client.notices).toBe(1)
})

verifies('D05', everywhere, async ({ open }) => {
  await using behind = await open()
  const { peer, all } = behind
  await heard(behind)
  const lists = peer.lists
  const answer = deferred()
  peer.afterList = () => answer.promise
  peer.put('two')
  await until(() => peer.lists === lists + 1, 'tools/list is running')
  for (const name of many(5)) peer.put(name)
  await apart(behind)
  peer.afterList = () => Promise.resolve()
  answer.resolve()
  await all.lists('up__tool_4')
  await apart(behind)
  expect(peer.lists).toBe(lists + 2)
})

verifies('D07', everywhere, async ({ open }) => {
  await using behind = await open()
  const { peer, all } = behind
  await heard(behind)
  const lists = peer.lists
  const answer = deferred()
  peer.afterList = () => answer.promise
  peer.put('two')
  await until(() => peer.lists > lists, 'tools/list is running')
  peer.tools.set('three', 'Came while it was away')
  peer.cut()
  peer.afterList = () => Promise.resolve()
  answer.resolve()
  await all.lists('up__three')
  expect(all.listed()).toEqual(['up__one', 'up__two', 'up__three'])
})

verifies('D08', upstreamsOver(['stdio', 'http', 'sse']), async ({ open }) => {
  await using behind = await open({
    before(peer) {
      peer.declares = false
    },
  })
  const { peer, all } = behind
  await heard(behind)
  for (const name of many(3)) {
    peer.put(name)
    await all.lists(`up__${name}`)
  }
  const warnings = all.of('warning', 'up').filter(({ message }) => message.includes('without declaring tools.listChanged'))
  expect(warnings).toHaveLength(1)
  expect(all.of('list_changed', 'up').every(({ isDeclared }) => !isDeclared)).toBe(true)
})

verifies('D09', everywhere, async ({ open }) => {
  await using behind = await open()
  const { peer, all } = behind
  await heard(behind)
  await using client = await all.connect()
  const changed: string[] = []
  const { upstreams } = all.gateway
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

verifies('D10', everywhere, async ({ open }) => {
  await using behind = await open({
    settings: { sweepMs: 150 },
    before(peer) {
      peer.declares = false
    },
  })
  const { peer, all } = behind
  await all.lists('up__one')
  peer.tools.set('two', 'Came without a word')
  await all.lists('up__two')
  expect(all.of('list_changed', 'up')).toHaveLength(0)
  expect(all.gateway.upstreams.get('up')?.status.announcesChanges).toBe(false)
})

verifies('D11', everywhere, async ({ open }) => {
  await using behind = await open()
  const { peer, all } = behind
  await heard(behind)
  await using client = await all.connect('stateless')
  const answer = deferred()
  const lists = peer.lists
  peer.afterList = () => answer.promise
  peer.put('two')
  await until(() => peer.lists > lists, 'tools/list is running')
  await all.edit({})
  await until(() => client.notices === 1, 'the notification')
  answer.resolve()
  expect(await client.names()).toEqual([])
  await expect(client.call('up__one')).rejects.toThrow('not found')
  await until(() => peer.ears === 0, 'the gateway has disconnected')
  expect(client.notices).toBe(1)
  expect(all.of('tools', 'up').at(-1)).toMatchObject({ removed: 1, tools: [] })
})

verifies('D12', everywhere, async ({ open }) => {
  await using behind = await open()
  const { peer, all } = behind
  await heard(behind)
  const answer = deferred()
  const lists = peer.lists
  peer.afterList = () => answer.promise
  peer.put('two')
  await until(() => peer.lists > lists, 'tools/list is running')
  peer.put('three')
  await all.gateway.close()
  const asked = peer.asked.length
  answer.resolve()
  peer.put('four')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(peer.asked.slice(asked)).toEqual([])
  expect(peer.lists).toBe(lists + 1)
  expect(all.state('up')).toBe('stopped')
})

verifies('D13', everywhere, async ({ open }) => {
  await using behind = await open({
    tools: many(1_000),
    before: paged(100),
  })
  const { peer, all } = behind
  await heard(behind)
  const before = all.gateway.source.entries()
  expect(before).toHaveLength(1_000)
  peer.put('tool_500', 'Does something else')
  await until(() => all.of('tools', 'up').at(-1)?.changed === 1, 'the change is reported')
  const after = all.gateway.source.entries()
  expect(after).toHaveLength(1_000)
  expect(after.filter((entry, at) => entry !== before[at]).map(({ tool }) => tool.name)).toEqual(['up__tool_500'])
})

verifies('D14', everywhere, async ({ open }) => {
  await using behind = await open({ tools: many(3) })
  const { peer, all } = behind
  await heard(behind)
  await using client = await all.connect()
  peer.tools.clear()
  peer.say()
  await until(() => client.notices === 1, 'the notification')
  expect(await client.names()).toEqual([])
  expect(all.state('up')).toBe('ready')
  peer.put('again')
  await all.lists('up__again')
})

verifies('D15', everywhere, async ({ open }) => {
  await using behind = await open({
    tools: many(7),
    before: paged(2),
  })
  const { peer, all } = behind
  await heard(behind)
  expect(all.listed()).toHaveLength(7)
  expect(peer.asked.filter((method) => method === 'a further page').length).toBeGreaterThanOrEqual(3)
  peer.isCircular = true
  peer.put('more')
  await until(() => all.of('list_failed', 'up').length > 0, 'the failure is reported')
  expect(all.of('list_failed', 'up')[0]?.error).toContain('the pages go in a circle')
  expect(all.listed()).toHaveLength(7)
  peer.isCircular = false
  await all.lists('up__more')
})

verifies('D16', everywhere, async ({ open }) => {
  await using behind = await open()
  const { peer, all } = behind
  await heard(behind)
  await using client = await all.connect()
  const answer = deferred()
  const lists = peer.lists
  peer.afterList = () => answer.promise
  peer.put('two')
  await until(() => peer.lists > lists, 'tools/list is running')
  expect(textOf(await client.call('up__one'))).toBe('one was called')
  expect(await client.names()).toEqual(['up__one'])
  expect(all.listed()).toEqual(['up__one'])
  answer.resolve()
  await all.lists('up__two')
})

verifies('D17', everywhere, async ({ open }) => {
  await using behind = await open({
    before(peer) {
      peer.afterList = async () => peer.say()
    },
  })
  const { peer, all } = behind
  await until(() => all.of('throttled', 'up').length === 1, 'the throttling is reported')
  expect(all.gateway.upstreams.get('up')?.status.throttleMs).toBeGreaterThan(0)
  peer.put('two')
  await all.lists('up__two')
})

verifies('D18', everywhere, async ({ open }) => {
  await using behind = await open({ tools: ['one'] })
  const { peer, all } = behind
  await heard(behind)
  peer.refusal = 'not today'
  peer.put('two')
  await until(() => all.of('list_failed', 'up').length > 0, 'the failure is reported')
  const [failed] = all.of('list_failed', 'up')
  expect(failed).toMatchObject({ attempt: 1 })
  expect(failed?.error).toContain('not today')
  expect(failed?.retryInMs).toBeGreaterThan(0)
  expect(all.listed()).toEqual(['up__one'])
  peer.refusal = undefined
  await all.lists('up__two')
})

verifies('D19', everywhere, async ({ open }) => {
  await using behind = await open({ rest: { exposure: 'search' } })
  await using whole = await open({ rest: { exposure: 'everything' } })
  await Promise.all([heard(behind), heard(whole)])
  await using one = await whole.all.connect('session')
  await using other = await whole.all.connect('stateless')
  await using searching = await behind.all.connect('session')
  behind.peer.put('weigh_parcel', 'Weighs a parcel')
  whole.peer.put('weigh_parcel', 'Weighs a parcel')
  await until(() => one.notices === 1 && other.notices === 1, 'both clients are notified')
  for (const client of [one, other]) {
    expect(await client.names()).toEqual(['up__one', 'up__weigh_parcel'])
    expect(textOf(await client.call('up__weigh_parcel'))).toBe('weigh_parcel was called')
  }
  await behind.all.lists('up__weigh_parcel')
  expect(textOf(await searching.call('search_tools', { query: 'weigh a parcel' }))).toContain('up__weigh_parcel')
  expect([one.notices, other.notices]).toEqual([1, 1])
})

type Behind = Awaited<ReturnType<ReturnType<typeof everywhere.make>['open']>>

/** Waits until the gateway has listed the tools and receives notifications. */
async function heard({ peer, all }: Behind): Promise<void> {
  await until(() => all.listed().length > 0 && peer.ears > 0, 'the gateway receives notifications')
  await apart({ peer, all })
}

/** Waits long enough that the next notification is not merged with the previous one. */
async function apart({ all }: Pick<Behind, 'peer' | 'all'>): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 120))
  await until(() => all.state('up') === 'ready', 'the server is ready')
}
