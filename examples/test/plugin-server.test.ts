import { listen } from '@unfold-mcp/server'
import { describe, expect, test } from 'vitest'
import { pluginServer } from '../src/plugin-server/server.ts'
import { type Connected, connected, eras, joinedTo } from './connected.ts'

const now = Date.UTC(2026, 6, 28, 12)
const server = () => pluginServer(() => now)

const own = ['load_plugin', 'unload_plugin', 'list_plugins']
const textTools = ['text_count', 'text_slug', 'text_diff']

async function loaded(...plugins: string[]): Promise<Connected> {
  const session = await connected(server())
  for (const name of plugins) await session.call('load_plugin', { name })
  return session
}

describe.each(eras)('plugins (%s)', (era) => {
  test('the initial list has the three tools that manage plugins', async () => {
    await using session = await connected(server(), { era })
    expect(await session.toolNames()).toEqual(own)
  })

  test('loading adds tools, unloading removes them', async () => {
    await using session = await connected(server(), { era })
    const reply = await session.text('load_plugin', { name: 'text' })
    expect(reply).toMatch(/^Loaded text\.\n3 tools are now available:\n- text_count\(text: string\)/)
    expect(await session.toolNames()).toEqual([...own, ...textTools])
    await session.call('load_plugin', { name: 'math' })
    await session.call('unload_plugin', { name: 'text' })
    expect(await session.toolNames()).toEqual([...own, 'math_evaluate', 'math_statistics'])
    await expect(session.call('text_slug', { title: 'x' })).rejects.toThrow('not found')
  })

  test('all clients are notified, not only the one that loaded the plugin', async () => {
    await using listening = await listen(server(), { port: 0 })
    await using one = await joinedTo(listening.url, { era })
    await using other = await joinedTo(listening.url, { era })
    await one.call('load_plugin', { name: 'time' })
    await expect.poll(() => [one.notices, other.notices]).toEqual([1, 1])
    expect(await other.toolNames()).toContain('time_now')
  })
})

describe('managing', () => {
  test('list_plugins returns the loaded plugins', async () => {
    await using session = await loaded('text')
    expect(await session.data('list_plugins')).toMatchObject({
      plugins: [
        { name: 'text', loaded: true, tools: textTools },
        { name: 'math', loaded: false, tools: [] },
        { name: 'time', loaded: false, tools: [] },
      ],
    })
  })

  test('loading and unloading twice changes nothing', async () => {
    await using session = await loaded('text')
    expect(await session.text('load_plugin', { name: 'text' })).toBe('text is loaded already.')
    await session.call('unload_plugin', { name: 'text' })
    expect(await session.text('unload_plugin', { name: 'text' })).toBe('text is not loaded.')
    await session.call('load_plugin', { name: 'text' })
    expect(await session.toolNames()).toEqual([...own, ...textTools])
  })

  test('an unknown plugin is rejected with the known ones', async () => {
    await using session = await loaded()
    await expect(session.call('load_plugin', { name: 'txt' })).rejects.toThrow('Plugins: text, math, time')
    await expect(session.call('unload_plugin', { name: 'txt' })).rejects.toThrow('Plugins: text, math, time')
    await expect(session.call('load_plugin')).rejects.toThrow('name')
  })
})

describe('text', () => {
  test('counts', async () => {
    await using session = await loaded('text')
    expect(await session.data('text_count', { text: 'Hello 👋🏽 wörld!\nTwo lines.\n' })).toEqual({
      characters: 26,
      words: 4,
      sentences: 2,
      lines: 2,
    })
    expect(await session.data('text_count', { text: '' })).toEqual({ characters: 0, words: 0, sentences: 0, lines: 0 })
  })

  test('slugs', async () => {
    await using session = await loaded('text')
    expect(await session.text('text_slug', { title: ' Crème brûlée, à la carte! ' })).toBe('creme-brulee-a-la-carte')
  })

  test('differences', async () => {
    await using session = await loaded('text')
    expect(await session.text('text_diff', { before: 'a\nb\nc', after: 'a\nx\nc\nd' })).toBe('  a\n- b\n+ x\n  c\n+ d')
    await expect(session.call('text_diff', { before: '\n'.repeat(1_001), after: '' })).rejects.toThrow('Pass parts')
  })
})

describe('math', () => {
  test.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['10 - 4 - 3', 3],
    ['2 ^ 3 ^ 2', 512],
    ['-2 ^ 2', -4],
    ['2 ^ -1', 0.5],
    ['7 % 4 / 2', 1.5],
    ['sqrt(16) + max(1, 2, 3)', 7],
    ['round(2 * pi)', 6],
    ['1.5e3 + .5', 1_500.5],
  ])('%s is %d', async (expression, value) => {
    await using session = await loaded('math')
    expect(await session.data('math_evaluate', { expression })).toEqual({ value })
  })

  test.each([
    ['1 +', 'a number where it ends'],
    ['(1', '")" where it ends'],
    ['1 2', 'an operator where it has "2"'],
    ['process.exit()', 'a number where it has "process"'],
    ['constructor(1)', 'Functions: sqrt'],
    ['1.2.3', '"1.2.3" is not a number'],
    ['1 / 0', 'no finite value'],
  ])('%s is rejected', async (expression, message) => {
    await using session = await loaded('math')
    await expect(session.call('math_evaluate', { expression })).rejects.toThrow(message)
  })

  test('statistics', async () => {
    await using session = await loaded('math')
    expect(await session.data('math_statistics', { numbers: [4, 2, 4, 4, 5, 5, 7, 9] })).toEqual({
      count: 8,
      sum: 40,
      mean: 5,
      median: 4.5,
      standardDeviation: 2,
      least: 2,
      largest: 9,
    })
    await expect(session.call('math_statistics', { numbers: [] })).rejects.toThrow('numbers')
  })
})

describe('time', () => {
  test('now, and any moment, in any zone', async () => {
    await using session = await loaded('time')
    expect(await session.data('time_now', { zone: 'Europe/Berlin' })).toMatchObject({
      iso: '2026-07-28T12:00:00.000Z',
      local: expect.stringContaining('14:00:00'),
    })
    expect(await session.data('time_convert', { moment: '2026-01-01T00:30:00+01:00', zone: 'America/New_York' })).toMatchObject({
      local: expect.stringContaining('18:30:00'),
    })
    await expect(session.call('time_now', { zone: 'Mars/Olympus' })).rejects.toThrow('Unknown time zone "Mars/Olympus"')
    await expect(session.call('time_convert', { moment: 'tomorrow' })).rejects.toThrow('moment')
  })

  test('spans', async () => {
    await using session = await loaded('time')
    const [from, to] = ['2026-01-01T00:00:00Z', '2026-01-02T03:04:05Z']
    expect(await session.data('time_between', { from, to })).toEqual({ seconds: 97_445, days: 1, hours: 3, minutes: 4 })
    expect(await session.data('time_between', { from: to, to: from })).toMatchObject({ seconds: -97_445 })
  })
})
