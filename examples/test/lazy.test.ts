import { replyData, testServer, testTransports } from '@unfold-mcp/server/testing'
import { describe, expect, test } from 'vitest'
import { smartHome } from '../src/lazy/home.ts'
import { House } from '../src/lazy/house.ts'
import { connected, eras } from './connected.ts'

const start = Date.UTC(2026, 0, 1, 18)
const home = () => smartHome(new House(() => start))

describe('lazy mode', () => {
  test('a session starts with manage_tools, finds, enables, and calls', async () => {
    await using session = await connected(home())
    expect(await session.toolNames()).toEqual(['manage_tools'])
    expect(await session.text('manage_tools', { action: 'search', query: 'dim the lights of a room' })).toContain(
      '- set_light(room: "living_room"',
    )
    const enabled = await session.text('manage_tools', { action: 'enable', tools: ['set_light', 'apply_scene'] })
    expect(enabled).toContain('- set_light(')
    expect(await session.toolNames()).toEqual(['manage_tools', 'set_light', 'apply_scene'])
    await expect.poll(() => session.notices).toBe(1)
    expect(await session.text('set_light', { room: 'kitchen', percent: 40 })).toBe('The lights of the kitchen are at 40 %.')
  })

  test('a group is enabled by name, and disabled again', async () => {
    await using session = await connected(home())
    await session.call('manage_tools', { action: 'enable', tools: 'sound' })
    expect(await session.toolNames()).toEqual(['manage_tools', 'play_music', 'stop_music', 'set_volume'])
    await session.call('manage_tools', { action: 'disable', tools: 'sound' })
    expect(await session.toolNames()).toEqual(['manage_tools'])
  })

  test('the list names every tool without a schema', async () => {
    await using session = await connected(home())
    const reply = await session.call('manage_tools', { action: 'list' })
    const { tools } = replyData(reply) as { tools: { name: string; enabled: boolean }[] }
    expect(tools).toHaveLength(15)
    expect(tools.filter(({ enabled }) => enabled)).toEqual([])
  })

  test('without sessions tools are found and called, and the list does not change', async () => {
    await using client = await connected(home(), { era: 'stateless' })
    const surface = ['search_tools', 'describe_tools', 'call_tool']
    expect(await client.toolNames()).toEqual(surface)
    expect(await client.text('search_tools', { query: 'unlock a door' })).toContain('- unlock_door(door: "front"')
    expect(await client.text('call_tool', { name: 'unlock_door', arguments: { door: 'garden' } })).toBe(
      'The garden door is unlocked.',
    )
    expect(await client.toolNames()).toEqual(surface)
  })

  test('invalid arguments are answered with a working example', async () => {
    await using client = await connected(home(), { era: 'stateless' })
    const result = await client.client.callTool({
      name: 'call_tool',
      arguments: { name: 'set_light', arguments: { room: 'kitchen', percent: 140 } },
    })
    expect(result.isError).toBe(true)
    const { example } = replyData(result) as { example: Record<string, unknown> }
    expect(example).toMatchObject({ room: 'kitchen' })
    await client.call('call_tool', { name: 'set_light', arguments: example })
  })
})

test.each(testTransports)('call_tool works over $transport ($era)', async (testTransport) => {
  await using server = await testServer(home(), testTransport)
  await using client = await server.connect()
  expect(await client.toolNames()).toEqual(
    testTransport.era === 'session' ? ['manage_tools'] : ['search_tools', 'describe_tools', 'call_tool'],
  )
  const { content } = await client.call('call_tool', { name: 'lock_door', arguments: { door: 'garage' } })
  expect(content).toEqual([{ type: 'text', text: 'The garage door is locked.' }])
})

describe('the house', () => {
  const acting = async (era: (typeof eras)[number], house = new House(() => start)) => {
    const client = await connected(smartHome(house), { era })
    const act = async (name: string, args: Record<string, unknown> = {}) => {
      if (era === 'stateless') return client.text('call_tool', { name, arguments: args })
      await client.call('manage_tools', { action: 'enable', tools: name })
      return client.text(name, args)
    }
    return { act, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() }
  }

  test.each(eras)('lights, scenes and the journal (%s)', async (era) => {
    await using client = await acting(era)
    expect(await client.act('apply_scene', { scene: 'film' })).toContain('{"room":"living_room","percent":10}')
    expect(await client.act('switch_off_all_lights')).toBe('All lights are off.')
    expect(await client.act('list_lights')).not.toMatch(/"percent":[1-9]/u)
    expect(await client.act('read_journal', { limit: 1 })).toContain('The lights of the hallway are at 0 %.')
  })

  test.each(eras)('rooms warm up over time (%s)', async (era) => {
    let now = start
    await using client = await acting(era, new House(() => now))
    expect(await client.act('set_thermostat', { room: 'bedroom', celsius: 20 })).toContain('it has 18 °C now')
    now += 20 * 60_000
    expect(await client.act('read_temperatures', { room: 'bedroom' })).toContain('"celsius":19')
    now += 60 * 60_000
    expect(await client.act('read_temperatures', { room: 'bedroom' })).toContain('"celsius":20')
    expect(await client.act('lower_heating')).toContain('bedroom')
    now += 20 * 60_000
    expect(await client.act('read_temperatures', { room: 'bedroom' })).toContain('"celsius":19')
  })

  test.each(eras)('doors and alarm depend on each other (%s)', async (era) => {
    await using client = await acting(era)
    await client.act('unlock_door', { door: 'front' })
    await expect(client.act('set_alarm', { mode: 'away' })).rejects.toThrow('front')
    await client.act('lock_door', { door: 'front' })
    await client.act('set_alarm', { mode: 'away' })
    await expect(client.act('unlock_door', { door: 'front' })).rejects.toThrow('stays locked')
    expect(await client.act('check_doors')).toContain('"alarm":"away"')
  })

  test.each(eras)('music plays in the selected rooms (%s)', async (era) => {
    await using client = await acting(era)
    await client.act('set_volume', { room: 'kitchen', volume: 55 })
    expect(await client.act('play_music', { room: 'kitchen', station: 'Radio Baroque' })).toBe(
      'Radio Baroque plays in the kitchen, at volume 55.',
    )
    expect(await client.act('stop_music', { room: 'kitchen' })).toBe('The kitchen is quiet.')
  })
})
