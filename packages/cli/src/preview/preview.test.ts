import { estimateTokens, type HostProfile, toolTokens } from '@unfold-mcp/core'
import { expect, test } from 'vitest'
import { plainHost, tool, transcript } from '../../test/transcript.ts'
import { previewOf } from './preview.ts'
import type { Transcript } from './transcript.ts'

const preview = (what: Partial<Transcript>, host?: HostProfile) =>
  previewOf(transcript(what), { host, serverName: 'desk', estimate: estimateTokens })

const activation = (appeared: readonly string[], more: Partial<Transcript['steps'][number]> = {}) => ({
  ...{ name: 'activate_a', arguments: {}, reply: 'Activated: a.', isError: false, group: 'a' },
  appeared: appeared.map((name) => tool(name)),
  ...more,
})

test('without steps every tool is in the first request and takes two turns', () => {
  const { tools, tokens, turns, steps } = preview({ tools: [tool('now'), tool('later')], instructions: 'Be kind.' })
  expect(tools.map(({ name, state }) => [name, state])).toEqual([
    ['now', 'listed'],
    ['later', 'listed'],
  ])
  expect(tokens).toBe(toolTokens(tool('now')) + toolTokens(tool('later')))
  expect({ turns, steps }).toEqual({ turns: { listed: 2 }, steps: [] })
})

test('tools that appear later follow the listed ones, with the call that lists them', () => {
  const { tools, tokens, allTokens, turns, steps } = preview({
    tools: [tool('activate_a')],
    steps: [activation(['one']), activation(['two'], { name: 'activate_b', first: ['activate_a'] })],
  })
  expect(tools.map(({ name, state, after }) => [name, state, after])).toEqual([
    ['activate_a', 'listed', undefined],
    ['one', 'step', 'activate_a'],
    ['two', 'step', 'activate_b'],
  ])
  expect(tokens).toBe(toolTokens(tool('activate_a')))
  expect(allTokens).toBe(tokens + toolTokens(tool('one')) + toolTokens(tool('two')))
  expect(turns).toEqual({ listed: 2, unlisted: { min: 3, max: 4 } })
  expect(steps[0]).toEqual({
    call: 'activate_a()',
    first: [],
    reply: 'Activated: a.',
    replyTokens: estimateTokens('Activated: a.'),
    isError: false,
    tools: ['one'],
    tokens: toolTokens(tool('one')),
  })
})

test('a step that only lists activators does not reach a tool', () => {
  const steps = [activation(['activate_b', 'deactivate']), activation(['two'], { name: 'activate_b', first: ['activate_a'] })]
  expect(preview({ tools: [tool('activate_a')], steps }).turns.unlisted).toEqual({ min: 4, max: 4 })
})

test('hosts that re-list late or never use call_tool, need another turn, or cannot reach new tools', () => {
  const steps = [activation(['one'])]
  const [late, never] = [
    { ...plainHost, relists: 'late' as const },
    { ...plainHost, relists: 'never' as const },
  ]
  const withCaller = { tools: [tool('activate_a'), tool('call_tool')], steps }
  for (const host of [late, never]) {
    const { turns, steps: previewed } = preview(withCaller, host)
    expect(turns.unlisted).toEqual({ min: 3, max: 3 })
    expect(previewed[0]).toMatchObject({ through: 'call_tool', tokens: 0, tools: ['one'] })
  }
  const without = { tools: [tool('activate_a')], steps }
  expect(preview(without, late).turns.unlisted).toEqual({ min: 4, max: 4 })
  expect(preview(without, never).turns).toEqual({ listed: 2 })
})

test('searched tools take three turns with search_tools and four with manage_tools', () => {
  const outline = { tools: [{ name: 'hidden', tokens: 40 }], groups: [] }
  const searched = preview({ tools: [tool('search_tools'), tool('call_tool')], outline })
  expect(searched.turns.unlisted).toEqual({ min: 3, max: 3 })
  expect(searched.tools.at(-1)).toEqual({ name: 'hidden', tokens: 40, state: 'found' })
  const enabled = activation(['hidden'], { name: 'manage_tools', arguments: { action: 'enable', tools: ['hidden'] } })
  const managed = preview({ tools: [tool('manage_tools')], outline, steps: [enabled] })
  expect(managed.turns.unlisted).toEqual({ min: 4, max: 4 })
  expect(managed.tools.at(-1)).toMatchObject({ name: 'hidden', state: 'found' })
  expect(managed.steps[0]?.call).toBe('manage_tools(action: "enable", tools: ["hidden"])')
  expect(preview({ tools: [tool('now')], outline }).tools.at(-1)?.state).toBe('unreachable')
})

test('a deferring host sends names, except for tools with a hint', () => {
  const tools = [tool('toolFinder', { _meta: { 'anthropic/alwaysLoad': true } }), tool('other')]
  const defers = { ...plainHost, defers: 'always' as const }
  const all = preview({ tools }, defers)
  expect(all.tools.map(({ state }) => state)).toEqual(['named', 'named'])
  expect(all.tokens).toBe(estimateTokens('toolFinder') + estimateTokens('other'))
  expect(all.turns.listed).toBe(3)
  const options = { host: defers, isLoaded: true, serverName: 'desk', estimate: estimateTokens }
  expect(previewOf(transcript({ tools }), options).tools.map(({ state }) => state)).toEqual(['listed', 'listed'])
  const reads = preview({ tools }, { ...defers, hints: ['anthropic/alwaysLoad'] })
  expect(reads.tools.map(({ state }) => state)).toEqual(['listed', 'named'])
})

test('a host that may defer is assumed to if the server sends search hints', () => {
  const host = { ...plainHost, defers: 'by-setting' as const }
  expect(preview({ tools: [tool('a')] }, host).tools[0]?.state).toBe('listed')
  expect(preview({ tools: [tool('a', { _meta: { 'anthropic/searchHint': 'b' } })] }, host).tools[0]?.state).toBe('named')
})

test('truncated text costs only what remains', () => {
  const host = { ...plainHost, limits: { description: 20, instructions: 20 } }
  const long = 'word '.repeat(200)
  const { tokens, instructionTokens } = preview({ tools: [tool('a', { description: long })], instructions: long }, host)
  expect(tokens).toBe(toolTokens(tool('a', { description: long.slice(0, 20) })))
  expect(instructionTokens).toBe(estimateTokens(long.slice(0, 20)))
})
