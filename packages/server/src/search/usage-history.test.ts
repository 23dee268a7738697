import { describe, expect, test } from 'vitest'
import { replyData, type TestContext, testContext, testServer, testTransports } from '../testing/index.ts'
import { defineToolbox } from '../toolbox.ts'
import type { ToolboxOptions } from '../toolbox-options.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

function office(options: Partial<ToolboxOptions<never>> = {}) {
  const clock = { ms: 0 }
  const box = defineToolbox({
    name: 'office',
    version: '1.0.0',
    exposure: 'search',
    search: { learn: true },
    now: () => clock.ms,
    ...options,
  })
  for (const name of ['report_a', 'report_b', 'report_c'])
    box.tool(name, { description: 'Send the monthly report to the accounting department' }, () => name)
  for (const name of ['brew_coffee', 'water_plants', 'open_window', 'call_taxi']) box.tool(name, {}, () => name)
  return { box, clock }
}

async function names(client: Pick<TestContext, 'call'>, query = 'send monthly report'): Promise<readonly string[]> {
  return (replyData(await client.call('search_tools', { query })) as { names: string[] }).names
}

const callThrough = (client: Pick<TestContext, 'call'>, name: string) => client.call('call_tool', { name })
const defaultOrder = ['report_a', 'report_b', 'report_c']
const boosted = ['report_c', 'report_a', 'report_b']

describe('a toolbox that learns', () => {
  test('boosts tools that were called after similar searches', async () => {
    await using client = await testContext(office().box)
    expect(await names(client)).toEqual(defaultOrder)
    await callThrough(client, 'report_c')
    expect(await names(client)).toEqual(boosted)
    expect(await names(client, 'report monthly')).toEqual(boosted)
    expect(await names(client, 'accounting department')).toEqual(defaultOrder)
  })

  test('counts direct calls as well as calls through call_tool', async () => {
    await using client = await testContext(office({ exposure: 'lazy' }).box)
    await client.call('manage_tools', { action: 'search', query: 'send monthly report' })
    await client.call('manage_tools', { action: 'enable', tools: 'report_c' })
    await client.call('report_c')
    expect(await names(client)).toEqual(boosted)
  })

  test('never moves a tool before one that the query names', async () => {
    await using client = await testContext(office().box)
    await names(client, 'report_a')
    await names(client)
    for (const name of defaultOrder.slice(1)) await callThrough(client, name)
    expect((await names(client, 'report_a'))[0]).toBe('report_a')
  })

  test('ignores calls long after the search, and calls of tools that the search did not return', async () => {
    const { box, clock } = office()
    await using client = await testContext(box)
    await names(client)
    clock.ms += 11 * minuteMs
    await callThrough(client, 'report_c')
    expect(await names(client)).toEqual(defaultOrder)
    await client.call('search_tools', { query: 'send monthly report', limit: 1 })
    clock.ms += 9 * minuteMs
    await client.call('search_tools', { query: 'quantum chromodynamics' })
    clock.ms += 2 * minuteMs
    await callThrough(client, 'report_c')
    expect(await names(client)).toEqual(defaultOrder)
  })

  test('ignores calls with invalid arguments', async () => {
    const { box } = office()
    box.tool(
      'report_d',
      { description: 'Send the monthly report to the accounting department', inputSchema: { type: 'object', required: ['to'] } },
      () => '',
    )
    await using client = await testContext(box)
    await names(client)
    await callThrough(client, 'report_d')
    expect(await names(client)).toEqual([...defaultOrder, 'report_d'])
  })

  test('decays: recent calls outweigh frequent old ones', async () => {
    const { box, clock } = office()
    await using client = await testContext(box)
    for (let i = 0; i < 3; i++) {
      await names(client)
      await callThrough(client, 'report_c')
    }
    clock.ms += 60 * dayMs
    await names(client)
    await callThrough(client, 'report_b')
    expect(await names(client)).toEqual(['report_b', 'report_c', 'report_a'])
  })

  test('counts calls in a loop once', async () => {
    await using client = await testContext(office().box)
    await names(client)
    for (let i = 0; i < 50; i++) await callThrough(client, 'report_c')
    for (let i = 0; i < 2; i++) {
      await names(client)
      await callThrough(client, 'report_b')
    }
    expect(await names(client)).toEqual(['report_b', 'report_c', 'report_a'])
  })

  test('learns nothing by default', async () => {
    await using client = await testContext(office({ search: {} }).box)
    await names(client)
    await callThrough(client, 'report_c')
    expect(await names(client)).toEqual(defaultOrder)
  })
})

describe('usage history is not shared', () => {
  test('between principals; it is shared between the sessions of one principal', async () => {
    const { box } = office()
    await using ada = await testContext(box, { principal: { id: 'ada' } })
    await using bob = await testContext(box, { principal: { id: 'bob' } })
    await using anonymous = await testContext(box)
    await names(ada)
    await names(bob)
    await callThrough(ada, 'report_c')
    // Not by the client that searched.
    await callThrough(anonymous, 'report_b')
    await using again = await testContext(box, { principal: { id: 'ada' } })
    expect(await names(again)).toEqual(boosted)
    expect(await names(bob)).toEqual(defaultOrder)
    expect(await names(anonymous)).toEqual(defaultOrder)
  })

  test('between anonymous sessions, and a principal named like a session does not get it', async () => {
    const { box } = office()
    await using one = await testContext(box)
    await names(one)
    await callThrough(one, 'report_c')
    expect(await names(one)).toEqual(boosted)
    await using other = await testContext(box)
    expect(await names(other)).toEqual(defaultOrder)
    await using impostor = await testContext(box, { principal: { id: one.scope } })
    expect(await names(impostor)).toEqual(defaultOrder)
  })

  test('a tool that is no longer permitted leaves no trace in the results', async () => {
    let withdrawn = false
    const permit: ToolboxOptions<never>['permit'] = (_, { name }) => !withdrawn || name !== 'report_c'
    const { box } = office({ permit })
    await using ada = await testContext(box, { principal: { id: 'ada' } })
    await using bob = await testContext(box, { principal: { id: 'bob' } })
    await names(ada)
    await callThrough(ada, 'report_c')
    withdrawn = true
    const reply = (client: TestContext) => client.call('search_tools', { query: 'send monthly report' })
    expect(await reply(ada)).toEqual(await reply(bob))
  })

  test('the least recent principals are dropped beyond the limit', async () => {
    const { box } = office()
    await using first = await testContext(box, { principal: { id: 'first' } })
    await names(first)
    await callThrough(first, 'report_c')
    for (let i = 0; i < 1_000; i++) {
      await using other = await testContext(box, { principal: { id: `p${i}` } })
      await names(other)
    }
    expect(await names(first)).toEqual(defaultOrder)
  })

  test.each(testTransports)('over $transport in the $era era', async (testTransport) => {
    await using server = await testServer(office().box, testTransport)
    const ada = await server.connect({ principal: { id: 'ada' }, view: 'exposure=search' })
    const bob = await server.connect({ principal: { id: 'bob' }, view: 'exposure=search' })
    await names(ada)
    await names(bob)
    await callThrough(ada, 'report_c')
    expect(await names(ada)).toEqual(boosted)
    expect(await names(bob)).toEqual(defaultOrder)
  })
})
