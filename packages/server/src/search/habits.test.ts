import { describe, expect, test } from 'vitest'
import { replyData, type TestContext, testContext, testServer, ways } from '../testing/index.ts'
import { defineToolbox, type ToolboxOptions } from '../toolbox.ts'

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
    box.tool(name, { about: 'Send the monthly report to the accounting department' }, () => name)
  for (const name of ['brew_coffee', 'water_plants', 'open_window', 'call_taxi']) box.tool(name, {}, () => name)
  return { box, clock }
}

async function names(client: Pick<TestContext, 'call'>, query = 'send monthly report'): Promise<readonly string[]> {
  return (replyData(await client.call('search_tools', { query })) as { names: string[] }).names
}

const through = (client: Pick<TestContext, 'call'>, name: string) => client.call('call_tool', { name })
const usual = ['report_a', 'report_b', 'report_c']
const raised = ['report_c', 'report_a', 'report_b']

describe('a toolbox that learns', () => {
  test('raises what was called after a search, for searches like it', async () => {
    await using client = await testContext(office().box)
    expect(await names(client)).toEqual(usual)
    await through(client, 'report_c')
    expect(await names(client)).toEqual(raised)
    expect(await names(client, 'report monthly')).toEqual(raised)
    expect(await names(client, 'accounting department')).toEqual(usual)
  })

  test('counts calls of listed tools as well as those through call_tool', async () => {
    await using client = await testContext(office({ exposure: 'lazy' }).box)
    await client.call('manage_tools', { action: 'search', query: 'send monthly report' })
    await client.call('manage_tools', { action: 'enable', tools: 'report_c' })
    await client.call('report_c')
    expect(await names(client)).toEqual(raised)
  })

  test('never puts it before a tool that the query names', async () => {
    await using client = await testContext(office().box)
    await names(client, 'report_a')
    await names(client)
    for (const name of usual.slice(1)) await through(client, name)
    expect((await names(client, 'report_a'))[0]).toBe('report_a')
  })

  test('learns nothing from a call long after the search, or of what the search did not show', async () => {
    const { box, clock } = office()
    await using client = await testContext(box)
    await names(client)
    clock.ms += 11 * minuteMs
    await through(client, 'report_c')
    expect(await names(client)).toEqual(usual)
    await client.call('search_tools', { query: 'send monthly report', limit: 1 })
    clock.ms += 9 * minuteMs
    await client.call('search_tools', { query: 'quantum chromodynamics' })
    clock.ms += 2 * minuteMs
    await through(client, 'report_c')
    expect(await names(client)).toEqual(usual)
  })

  test('learns nothing from a call whose arguments are wrong', async () => {
    const { box } = office()
    box.tool(
      'report_d',
      { about: 'Send the monthly report to the accounting department', input: { type: 'object', required: ['to'] } },
      () => '',
    )
    await using client = await testContext(box)
    await names(client)
    await through(client, 'report_d')
    expect(await names(client)).toEqual([...usual, 'report_d'])
  })

  test('forgets with time: what is called now outweighs what was called often', async () => {
    const { box, clock } = office()
    await using client = await testContext(box)
    for (let i = 0; i < 3; i++) {
      await names(client)
      await through(client, 'report_c')
    }
    clock.ms += 60 * dayMs
    await names(client)
    await through(client, 'report_b')
    expect(await names(client)).toEqual(['report_b', 'report_c', 'report_a'])
  })

  test('counts a tool called in a loop once', async () => {
    await using client = await testContext(office().box)
    await names(client)
    for (let i = 0; i < 50; i++) await through(client, 'report_c')
    for (let i = 0; i < 2; i++) {
      await names(client)
      await through(client, 'report_b')
    }
    expect(await names(client)).toEqual(['report_b', 'report_c', 'report_a'])
  })

  test('learns nothing unless it is told to', async () => {
    await using client = await testContext(office({ search: {} }).box)
    await names(client)
    await through(client, 'report_c')
    expect(await names(client)).toEqual(usual)
  })
})

describe('what is learned stays with whom it was learned from', () => {
  test('a principal has it in all sessions, and no other principal in any', async () => {
    const { box } = office()
    await using ada = await testContext(box, { principal: { id: 'ada' } })
    await using bob = await testContext(box, { principal: { id: 'bob' } })
    await using stranger = await testContext(box)
    await names(ada)
    await names(bob)
    await through(ada, 'report_c')
    // Called by another than the one who searched.
    await through(stranger, 'report_b')
    await using again = await testContext(box, { principal: { id: 'ada' } })
    expect(await names(again)).toEqual(raised)
    expect(await names(bob)).toEqual(usual)
    expect(await names(stranger)).toEqual(usual)
  })

  test('of somebody unknown it is the session that learns, and a name like a session is no way in', async () => {
    const { box } = office()
    await using one = await testContext(box)
    await names(one)
    await through(one, 'report_c')
    expect(await names(one)).toEqual(raised)
    await using other = await testContext(box)
    expect(await names(other)).toEqual(usual)
    await using sly = await testContext(box, { principal: { id: one.scope } })
    expect(await names(sly)).toEqual(usual)
  })

  test('a tool that is taken away from somebody leaves no trace in what they find', async () => {
    let withdrawn = false
    const permit: ToolboxOptions<never>['permit'] = (_, { name }) => !withdrawn || name !== 'report_c'
    const { box } = office({ permit })
    await using ada = await testContext(box, { principal: { id: 'ada' } })
    await using bob = await testContext(box, { principal: { id: 'bob' } })
    await names(ada)
    await through(ada, 'report_c')
    withdrawn = true
    const reply = (client: TestContext) => client.call('search_tools', { query: 'send monthly report' })
    expect(await reply(ada)).toEqual(await reply(bob))
  })

  test('with many principals the ones that came last are remembered', async () => {
    const { box } = office()
    await using first = await testContext(box, { principal: { id: 'first' } })
    await names(first)
    await through(first, 'report_c')
    for (let i = 0; i < 1_000; i++) {
      await using other = await testContext(box, { principal: { id: `p${i}` } })
      await names(other)
    }
    expect(await names(first)).toEqual(usual)
  })

  test.each(ways)('over $transport, in the $era era', async (way) => {
    await using server = await testServer(office().box, way)
    const ada = await server.connect({ principal: { id: 'ada' }, view: 'exposure=search' })
    const bob = await server.connect({ principal: { id: 'bob' }, view: 'exposure=search' })
    await names(ada)
    await names(bob)
    await through(ada, 'report_c')
    expect(await names(ada)).toEqual(raised)
    expect(await names(bob)).toEqual(usual)
  })
})
